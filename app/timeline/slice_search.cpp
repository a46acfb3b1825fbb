#include "app/timeline/slice_search.h"

#include <algorithm>
#include <array>

namespace app {

using profiler::LodBucket;
using profiler::Nanoseconds;
using profiler::Slice;
using profiler::TimeRange;
using profiler::toNs;
using profiler::Trace;
using profiler::TraceTime;
using profiler::TrackId;

namespace {

constexpr int kBuckets = 16;
constexpr Nanoseconds kNarrow{8 * kBuckets}; ///< a window with few slices of one depth

/// First (or last) slice at `depth` in `window`, found by narrowing the window with the level-of-detail index.
std::optional<Slice> edgeSlice(const Trace& trace, TrackId track, int depth, TimeRange window, bool last)
{
    while (window.duration() > kNarrow) {
        std::array<LodBucket, kBuckets> buckets;
        trace.summarize(track, depth, window, buckets);
        int edge = -1;
        for (int i = 0; i < kBuckets && edge < 0; ++i) {
            const int at = last ? kBuckets - 1 - i : i;
            if (buckets[static_cast<std::size_t>(at)].count > 0)
                edge = at;
        }
        if (edge < 0)
            return std::nullopt;
        const std::int64_t span = window.duration().count();
        // One extra bucket on either side, because the index rounds bucket edges.
        window = TimeRange{window.begin + Nanoseconds{span / kBuckets * std::max(0, edge - 1)},
                           window.begin + Nanoseconds{span / kBuckets * (edge + 2) + kBuckets}}
                     .clippedTo(window);
    }
    std::optional<Slice> found;
    trace.forEach(track, window, [&](const Slice& slice) {
        const bool better = !found || (last ? slice.begin > found->begin : slice.begin < found->begin);
        if (slice.depth == depth && better)
            found = slice;
        return true;
    });
    return found;
}

} // namespace

std::optional<Slice> nextSlice(const Trace& trace, const Slice& from)
{
    // An empty slice ends at its start and must not find itself again.
    const TraceTime after = std::max(from.end(), from.begin + Nanoseconds{1});
    return edgeSlice(trace, from.id.track, from.depth, {after, trace.range().end + Nanoseconds{1}}, false);
}

std::optional<Slice> previousSlice(const Trace& trace, const Slice& from)
{
    return edgeSlice(trace, from.id.track, from.depth, {trace.range().begin, from.begin}, true);
}

std::optional<Slice> nearestSlice(const Trace& trace, TrackId track, int depth, TraceTime time, Nanoseconds reach)
{
    if (auto exact = trace.at(track, depth, time))
        return exact;
    const auto after = edgeSlice(trace, track, depth, {time, time + reach + Nanoseconds{1}}, false);
    const auto before = edgeSlice(trace, track, depth, {time - reach, time}, true);
    if (!after || !before)
        return after ? after : before;
    return after->begin - time < time - before->end() ? after : before;
}

} // namespace app
