#pragma once

#include "profiler/capture/recorder.h"

#include <filesystem>
#include <memory>

namespace profiler::capture {

/// The recording of one process, which becomes one part of a merged trace (collect_parts.h).
struct PartRecording {
    std::unique_ptr<Recorder> recorder;
    std::filesystem::path path;
};

/// Starts this process's part of `trace`: `<trace>.<pid>`, with a number appended if a file of that name exists. A
/// program that replaces itself by exec keeps its pid, and processes in two pid namespaces can have the same one: a
/// part of another process is never overwritten.
/// @param options  everything except the path
Result<PartRecording> startPart(const std::filesystem::path& trace, RecorderOptions options);

} // namespace profiler::capture
