#pragma once

#include "profiler/model/trace.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// A window that leaves no slice out; Trace::range() ends before what begins at its end and takes no time.
inline constexpr TimeRange kAllTime{TraceTime::min(), TraceTime::max()};

/// Is there any slice of this kind? Looks at no slice.
bool hasKind(const Trace& trace, ActivityKind kind);
/// Those of Trace::ofKind() whose name `named` takes. Each name is asked about once, and a slice that is not taken
/// costs a look at two columns.
std::vector<Slice> ofKindNamed(const Trace& trace, ActivityKind kind,
                               const std::function<bool(std::string_view name)>& named);

/// By begin, the longer and the outer one first; equals stay in their order. Slices are large and mostly come in a few
/// sorted runs: keys are merged, and each slice is moved once.
void sortByNesting(std::vector<Slice>& slices);

/// Those slices of a track that `wanted` takes, in the order of Trace::sorted(), without the others being held.
template <class Wanted>
std::vector<Slice> sortedWhere(const Trace& trace, TrackId track, Wanted&& wanted)
{
    constexpr std::size_t kMostAhead = std::size_t{1} << 20; // most tracks are wanted whole or hardly at all
    std::vector<Slice> slices;
    slices.reserve(std::min(trace.sliceCount(track), kMostAhead));
    trace.forEach(track, kAllTime, [&](const Slice& slice) {
        if (wanted(slice))
            slices.push_back(slice);
        return true;
    });
    sortByNesting(slices);
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
