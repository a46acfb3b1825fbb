#include "profiler/capture/part_recording.h"

#include <string>
#include <unistd.h>

namespace profiler::capture {

Result<PartRecording> startPart(const std::filesystem::path& trace, RecorderOptions options)
{
    options.replace = false;
    const std::string first = trace.string() + "." + std::to_string(getpid());
    options.path = first;
    for (int number = 2;; ++number) {
        const bool isFree = access(options.path.c_str(), F_OK) != 0;
        auto started = isFree ? Recorder::start(options) : Result<std::unique_ptr<Recorder>>{};
        if (isFree && started)
            return PartRecording{std::move(*started), options.path};
        // Another process may have taken the name between the two calls.
        if (isFree && access(options.path.c_str(), F_OK) != 0)
            return tl::unexpected(started.error());
        options.path = first + "." + std::to_string(number);
    }
}

} // namespace profiler::capture
