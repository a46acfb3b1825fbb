#pragma once

#include "profiler/model/trace.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <vector>

namespace profiler::analysis {

/// A window that leaves no slice out; Trace::range() ends before what begins at its end and takes no time.
inline constexpr TimeRange kAllTime{TraceTime::min(), TraceTime::max()};

/// Those slices of a track that `wanted` takes, in the order of Trace::sorted(), without the others being held.
template <class Wanted>
std::vector<Slice> sortedWhere(const Trace& trace, TrackId track, Wanted&& wanted)
{
    std::vector<Slice> slices;
    trace.forEach(track, kAllTime, [&](const Slice& slice) {
        if (wanted(slice))
            slices.push_back(slice);
        return true;
    });
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
        return std::tuple{a.begin, -a.duration, a.depth} < std::tuple{b.begin, -b.duration, b.depth};
    });
    return slices;
}

/// @param window  sorted, disjoint
inline bool beginsWithin(const Slice& slice, std::span<const TimeRange> window)
{
    const auto after = std::upper_bound(window.begin(), window.end(), slice.begin,
                                        [](TraceTime time, const TimeRange& range) { return time < range.begin; });
    return after != window.begin() && std::prev(after)->contains(slice.begin);
}

} // namespace profiler::analysis
