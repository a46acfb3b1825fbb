#include "app/session/trace_loader.h"

#include "profiler/io/wire/tailing_reader.h"

namespace app {

TraceLoader::~TraceLoader()
{
    m_thread.cancel();
}

void TraceLoader::load(const std::filesystem::path& path)
{
    m_thread.start([this, path](const std::stop_token& stop, const Background::Post& post) {
        double told = 0;
        const auto progress = [&](double share) {
            if (share - told < 0.01)
                return;
            told = share;
            post([this, share] { emit progressed(share); });
        };
        auto trace = profiler::wire::readTrace(path, progress, stop);
        if (trace)
            post([this, path, trace = *trace] { emit loaded(path, trace); });
        else
            post([this, error = trace.error()] { emit failed(error); });
    });
}

void TraceLoader::cancel()
{
    m_thread.cancel();
}

} // namespace app
