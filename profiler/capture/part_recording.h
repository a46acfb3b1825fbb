#pragma once

#include "profiler/capture/recorder.h"

#include <filesystem>
#include <memory>

namespace profiler::capture {

/// The recording of one process, as a part of a trace that is made of several (collect_parts.h).
struct PartRecording {
    std::unique_ptr<Recorder> recorder;
    std::filesystem::path path;
};

/// Starts this process's part of `trace`: `<trace>.<pid>`, with a number behind it where a file of that name exists. A
/// program that replaced itself by exec keeps its pid, and processes in two pid namespaces can have the same one: a
/// part of another process is never replaced.
/// @param options  all but the path
Result<PartRecording> startPart(const std::filesystem::path& trace, RecorderOptions options);

} // namespace profiler::capture
