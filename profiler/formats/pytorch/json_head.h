#pragma once

#include "profiler/formats/pytorch/json_values.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string>

namespace profiler::formats::writers {

/// Appends what a PyTorch file contains before its events: devices, versions, ranks, and the corresponding entries of
/// the original file.
/// @param base  the zero of the file's clock, ns
void appendJsonHead(std::string& out, const Trace& trace, std::int64_t base);

/// Appends what was lost before the file was written, as an entry after the events; appends nothing if there were no
/// losses.
void appendJsonCapture(std::string& out, const CaptureStats& stats);

} // namespace profiler::formats::writers
