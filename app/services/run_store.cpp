#include "app/services/run_store.h"

#include <utility>

namespace app {

RunStore::RunStore(QObject* parent) : QObject(parent) {}

RunStore::~RunStore() = default;

void RunStore::read(const std::filesystem::path& root)
{
    m_reading.start(
        [this, root](const std::stop_token& stop, const Background::Post& post) {
            auto runs = readRuns(root, stop);
            if (!stop.stop_requested())
                post([this, runs = std::move(runs)] { emit runsRead(runs); });
        },
        [this](const profiler::Error& error) { emit readingFailed(error); });
}

void RunStore::remove(const RunRecord& run)
{
    m_toRemove.push_back(run);
    if (!m_removing)
        removeNext();
}

void RunStore::removeNext()
{
    m_removing = !m_toRemove.empty();
    if (!m_removing)
        return;
    const RunRecord run = m_toRemove.front();
    m_toRemove.erase(m_toRemove.begin());
    const auto end = [this, run](const profiler::Result<void>& result) {
        if (result)
            emit removed(run.folder);
        else
            emit removalFailed(run, result.error());
        removeNext();
    };
    m_removal.start([run, end](const std::stop_token&,
                               const Background::Post& post) { post([end, result = removeRun(run)] { end(result); }); },
                    [end](const profiler::Error& error) { end(tl::unexpected(error)); });
}

} // namespace app
