#include "app/document/trace_saver.h"

#include "profiler/formats/format.h"

namespace app {

TraceSaver::~TraceSaver()
{
    m_thread.cancelAndWait(); // signals of the posted results come from this object
}

void TraceSaver::save(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& path,
                      std::map<std::string, std::string> metadata)
{
    m_running = true;
    m_thread.start(
        [this, trace = std::move(trace), path, metadata = std::move(metadata)](const std::stop_token& stop,
                                                                               const Background::Post& post) {
            double reported = 0;
            profiler::formats::WriteOptions options;
            options.stop = stop;
            options.metadata = metadata;
            options.progress = [&](double share) {
                if (share - reported < 0.01)
                    return;
                reported = share;
                post([this, share] { emit progressed(share); });
            };
            const auto written = profiler::formats::saveTrace(*trace, path, options);
            post([this, path, written] {
                m_running = false;
                if (written)
                    emit saved(path);
                else
                    emit failed(path, written.error());
            });
        },
        [this, path](const profiler::Error& error) {
            m_running = false;
            emit failed(path, error);
        });
}

void TraceSaver::cancel()
{
    m_running = false;
    m_thread.cancelAndWait();
}

} // namespace app
