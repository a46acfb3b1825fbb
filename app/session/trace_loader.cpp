#include "app/session/trace_loader.h"

#include "profiler/io/formats/format.h"

#include <QSettings>
#include <atomic>
#include <chrono>

namespace app {

TraceLoader::~TraceLoader()
{
    m_thread.cancel();
}

void TraceLoader::load(const std::filesystem::path& path)
{
    const std::chrono::milliseconds previewAfter(
        QSettings()
            .value(kPreviewAfter, qlonglong{profiler::formats::ReadOptions().previewAfter.count()})
            .toLongLong());
    m_thread.start([this, path, previewAfter](const std::stop_token& stop, const Background::Post& post) {
        double told = 0;
        const auto unseen = std::make_shared<std::atomic<bool>>(false); // a preview waits for the GUI thread
        profiler::formats::ReadOptions options;
        options.stop = stop;
        options.previewAfter = previewAfter;
        options.progress = [&](double share) {
            if (share - told < 0.01)
                return;
            told = share;
            post([this, share] { emit progressed(share); });
        };
        options.preview = [&](std::shared_ptr<const profiler::Trace> trace) {
            if (unseen->exchange(true))
                return;
            post([this, path, unseen, trace = std::move(trace)] {
                *unseen = false;
                emit previewed(path, trace);
            });
        };
        auto trace = profiler::formats::openTrace(path, options);
        if (trace)
            post([this, path, trace = *trace] { emit loaded(path, trace); });
        else
            post([this, path, error = trace.error()] { emit failed(path, error); });
    });
}

void TraceLoader::cancel()
{
    m_thread.cancel();
}

} // namespace app
