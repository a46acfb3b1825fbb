#pragma once

#include "profiler/model/trace.h"

#include <optional>

namespace app {

/// Searches that cost by what they look at, never by how many slices a trace has.

/// The next slice of the same track and depth.
std::optional<profiler::Slice> nextSlice(const profiler::Trace& trace, const profiler::Slice& from);
/// The slice before it, of the same track and depth.
std::optional<profiler::Slice> previousSlice(const profiler::Trace& trace, const profiler::Slice& from);
/// The slice at a place, or else the one nearest to it within `reach` on either side.
std::optional<profiler::Slice> nearestSlice(const profiler::Trace& trace, profiler::TrackId track, int depth,
                                            profiler::TraceTime time, profiler::Nanoseconds reach);

} // namespace app
