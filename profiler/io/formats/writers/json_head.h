#pragma once

#include "profiler/io/formats/writers/json_values.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string>

namespace profiler::formats::writers {

/// Appends what a PyTorch file says ahead of its events: devices, versions, ranks, and what its own file said of them.
/// @param base  the time that the file's clock begins at, ns
void appendJsonHead(std::string& out, const Trace& trace, std::int64_t base);

/// Appends what was lost on the way to the file, as an entry behind its events; nothing where nothing was.
void appendJsonCapture(std::string& out, const CaptureStats& stats);

} // namespace profiler::formats::writers
