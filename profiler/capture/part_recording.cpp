#include "profiler/capture/part_recording.h"

#include "profiler/os/process.h"

#include <string>
#include <system_error>

namespace profiler::capture {

Result<PartRecording> startPart(const std::filesystem::path& trace, RecorderOptions options)
{
    options.replace = false;
    const std::string first = trace.string() + "." + std::to_string(os::processId());
    options.path = first;
    for (int number = 2;; ++number) {
        std::error_code ignored;
        const bool isFree = !std::filesystem::exists(options.path, ignored);
        auto started = isFree ? Recorder::start(options) : Result<std::unique_ptr<Recorder>>{};
        if (isFree && started)
            return PartRecording{std::move(*started), options.path};
        // Another process may have taken the name between the two calls.
        if (isFree && !std::filesystem::exists(options.path, ignored))
            return tl::unexpected(started.error());
        options.path = first + "." + std::to_string(number);
    }
}

} // namespace profiler::capture
