#include "app/services/run_store.h"

#include "app/look/qstring.h"
#include "app/services/notices.h"
#include "profiler/formats/container/sealed_writer.h"

#include <algorithm>
#include <utility>

namespace app {

void RunStore::reload()
{
    if (m_current)
        return;
    m_reading.start(
        [this, root = runsRoot()](const std::stop_token& stop, const Background::Post& post) {
            auto runs = readRuns(root, stop);
            if (!stop.stop_requested())
                post([this, runs = std::move(runs)] { take(runs); });
        },
        [this](const profiler::Error& error) {
            emit m_notices->noticed(tr("The list of runs cannot be read."), asQString(error.message()), true);
        });
}

void RunStore::take(std::vector<RunRecord> runs)
{
    // A training that was started in the meantime has newer state here.
    if (m_current) {
        std::erase_if(runs, [&](const RunRecord& run) { return run.folder == m_current->folder; });
        runs.insert(runs.begin(), *m_current);
    }
    m_all = std::move(runs);
    emit changed();
}

void RunStore::open(const RunRecord& run)
{
    m_current = run;
    m_lock = lockRun(run);
    m_all.insert(m_all.begin(), run);
    emit changed();
}

void RunStore::close(const RunOutcome& outcome)
{
    if (!m_current)
        return;
    m_current->outcome = outcome;
    if (const auto saved = saveOutcome(*m_current); !saved)
        emit m_notices->noticed(tr("The result of the run could not be saved."), asQString(saved.error().message()),
                                true);
    for (RunRecord& run : m_all)
        if (run.folder == m_current->folder)
            run = *m_current;
    m_current.reset();
    m_lock.reset();
    emit changed();
}

QString RunStore::titleOf(const config::TrainingConfig& configuration) const
{
    const QString workload = asQString(configuration.text("workload"));
    const auto baseline = std::find_if(m_all.rbegin(), m_all.rend(), [&](const RunRecord& run) {
        return run.configuration.text("workload") == configuration.text("workload");
    });
    if (baseline == m_all.rend())
        return workload;
    const auto changes = config::difference(baseline->configuration, configuration);
    if (changes.empty())
        return workload;
    if (changes.size() > 1)
        return tr("%1 · %2 changes").arg(workload).arg(changes.size());
    const std::string_view label = config::findKnob(changes[0].key)->label;
    return QString("%1 · %2 = %3").arg(workload, asQString(label), asQString(changes[0].b));
}

bool RunStore::contains(const std::filesystem::path& trace) const
{
    return std::any_of(m_all.begin(), m_all.end(), [&](const RunRecord& run) { return run.trace() == trace; });
}

void RunStore::remove(const RunRecord& run)
{
    emit m_notices->outdated();
    const auto end = [this, run](const profiler::Result<void>& result) { endRemoval(run, result); };
    addTask([this, run, end] {
        m_work.start(
            [run, end](const std::stop_token&, const Background::Post& post) {
                post([end, result = removeRun(run)] { end(result); });
            },
            [end](const profiler::Error& error) { end(tl::unexpected(error)); });
    });
}

void RunStore::seal(const std::filesystem::path& path, std::shared_ptr<const profiler::Trace> trace)
{
    const auto end = [this](const profiler::Result<void>& sealed) {
        // A run without recording has no trace, and the user may have removed the run.
        if (!sealed && sealed.error().code != profiler::Error::Code::NotFound)
            emit m_notices->noticed(tr("The trace of the run was not compressed and stays as it was recorded."),
                                    asQString(sealed.error().message()), false);
        nextTask();
    };
    addTask([this, path, end, trace = std::move(trace)] {
        m_work.start(
            [path, end, trace](const std::stop_token& stop, const Background::Post& post) {
                using profiler::container::sealTrace;
                profiler::container::WriteOptions options;
                options.stop = stop;
                // The content stays the same, and so does its time, by which bookmarks belong to the trace.
                std::error_code unknown;
                const auto modified = std::filesystem::last_write_time(path, unknown);
                const auto sealed = trace ? sealTrace(*trace, path, options) : sealTrace(path, options);
                if (sealed && !unknown)
                    std::filesystem::last_write_time(path, modified, unknown);
                post([end, sealed] { end(sealed); });
            },
            [end](const profiler::Error& error) { end(tl::unexpected(error)); });
    });
}

void RunStore::addTask(std::function<void()> task)
{
    m_tasks.push_back(std::move(task));
    if (!m_busy)
        nextTask();
}

void RunStore::nextTask()
{
    m_busy = !m_tasks.empty();
    if (!m_busy)
        return;
    const auto task = std::move(m_tasks.front());
    m_tasks.erase(m_tasks.begin());
    task();
}

void RunStore::endRemoval(const RunRecord& run, const profiler::Result<void>& result)
{
    if (result) {
        std::erase_if(m_all, [&](const RunRecord& known) { return known.folder == run.folder; });
        emit changed();
    } else {
        emit m_notices->noticed(tr("Could not delete the run: %1.").arg(asQString(result.error().what.text)),
                                detailOf(result.error()), true);
        reload(); // its trace may be missing although its folder exists
    }
    nextTask();
}

} // namespace app
