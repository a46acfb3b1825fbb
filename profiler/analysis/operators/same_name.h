#pragma once

#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace profiler::analysis {

/// All slices with the name and the kind of one slice, on all tracks: how unusual is this one?
struct SameName {
    static constexpr std::size_t kBins = 24;

    std::int64_t count = 0;   ///< includes the slice itself
    std::int64_t shorter = 0; ///< slices that are shorter than this one
    Nanoseconds total{}, shortest{}, median{}, longest{};
    SliceId shortestSlice, longestSlice;
    std::optional<SliceId> previous, next; ///< in order of start, over all tracks
    /// Numbers of slices by duration. The bins have equal widths on a logarithmic axis from `shortest` to `longest`; if
    /// all have the same duration, they are in the first bin.
    std::array<std::int64_t, kBins> bins{};
};

/// The bin of a duration, see SameName::bins.
std::size_t binOf(Nanoseconds duration, Nanoseconds shortest, Nanoseconds longest);
/// O(n) in all slices; do not call on the GUI thread.
/// @param stop  after a stop request, the result is incomplete and must be discarded
SameName sameName(const Trace& trace, const Slice& slice, const std::stop_token& stop = {});

/// The kernels, copies and memsets that the calls inside a host slice launched, found by correlation id.
struct WorkLaunchedInside {
    std::int64_t count = 0;
    Nanoseconds time{};       ///< sum of their durations; work that runs in parallel counts twice
    TraceTime begin{}, end{}; ///< first start and last end
    SliceId longest;
};

/// O(n) in the slices of the devices; do not call on the GUI thread.
/// @return without work for slices of a device, and where the trace has no correlation ids
WorkLaunchedInside workLaunchedInside(const Trace& trace, const Slice& slice, const std::stop_token& stop = {});

} // namespace profiler::analysis
