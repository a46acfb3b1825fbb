#include "app/document/trace_loader.h"

#include "app/document/trace_files.h"
#include "profiler/formats/format.h"

#include <QSettings>
#include <QTimer>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <utility>

namespace app {

namespace {

/// Time for the GUI thread to lay out and paint a preview.
constexpr std::chrono::milliseconds kPainting{20};
constexpr int kMostTurns = 20; ///< in units of 10 ms: maximum time that reading waits for this

} // namespace

void TraceLoader::load(const std::filesystem::path& path, Expect expect)
{
    m_running = true;
    const std::chrono::milliseconds previewAfter(
        QSettings()
            .value(kPreviewAfter, qlonglong{profiler::formats::ReadOptions().previewAfter.count()})
            .toLongLong());
    m_thread.start(
        [this, path, previewAfter, expect](const std::stop_token& stop, const Background::Post& post) {
            if (expect == Expect::TraceOrConfiguration && looksLikeConfiguration(path)) {
                post([this, path, read = config::TrainingConfig::load(path)] {
                    m_running = false;
                    if (read)
                        emit configurationRead(path, *read);
                    else
                        emit configurationRefused(path, QString::fromStdString(read.error().message()));
                });
                return;
            }
            double reported = 0;
            const auto unseen = std::make_shared<std::atomic<bool>>(false); // a preview is waiting for the GUI thread
            profiler::formats::ReadOptions options;
            options.stop = stop;
            options.previewAfter = previewAfter;
            options.progress = [&](double share) {
                if (share - reported < 0.01)
                    return;
                reported = share;
                post([this, share] { emit progressed(share); });
            };
            const auto painted = std::make_shared<std::binary_semaphore>(0);
            options.preview = [&, first = true](std::shared_ptr<const profiler::Trace> trace) mutable {
                if (unseen->exchange(true))
                    return;
                post([this, path, unseen, painted, first, trace = std::move(trace)] {
                    *unseen = false;
                    emit previewed(path, trace);
                    if (first)
                        QTimer::singleShot(kPainting, this, [painted] { painted->release(); });
                });
                // Reading uses all cores; it pauses so that the first picture can be painted.
                if (!std::exchange(first, false))
                    return;
                for (int turn = 0; turn < kMostTurns && !stop.stop_requested(); ++turn)
                    if (painted->try_acquire_for(std::chrono::milliseconds(10)))
                        return;
            };
            auto trace = profiler::formats::openTrace(path, options);
            post([this, path, trace] {
                m_running = false;
                if (trace)
                    emit loaded(path, *trace);
                else
                    emit failed(path, trace.error());
            });
        },
        [this, path](const profiler::Error& error) {
            m_running = false;
            emit failed(path, error);
        });
}

void TraceLoader::cancel()
{
    m_running = false;
    m_thread.cancel();
}

} // namespace app
