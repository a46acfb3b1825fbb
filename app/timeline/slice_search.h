#pragma once

#include "profiler/model/trace.h"

#include <optional>

namespace app {

/// Searches whose cost does not depend on the number of slices in the trace.

/// The next slice of the same track and depth.
std::optional<profiler::Slice> nextSlice(const profiler::Trace& trace, const profiler::Slice& from);
/// The previous slice of the same track and depth.
std::optional<profiler::Slice> previousSlice(const profiler::Trace& trace, const profiler::Slice& from);
/// The slice at a position, or the nearest one within `reach` on either side.
std::optional<profiler::Slice> nearestSlice(const profiler::Trace& trace, profiler::TrackId track, int depth,
                                            profiler::TraceTime time, profiler::Nanoseconds reach);

} // namespace app
