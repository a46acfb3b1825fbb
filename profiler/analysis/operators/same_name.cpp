#include "profiler/analysis/operators/same_name.h"

#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace profiler::analysis {

namespace {

/// Position in the order of all slices of a name.
auto orderOf(TraceTime begin, SliceId id)
{
    return std::tuple(begin, id.track.value, id.ordinal);
}

} // namespace

std::size_t binOf(Nanoseconds duration, Nanoseconds shortest, Nanoseconds longest)
{
    if (longest <= shortest)
        return 0;
    const auto log = [](Nanoseconds time) { return std::log(static_cast<double>(time.count()) + 1); }; // 0 is possible
    const double share = (log(duration) - log(shortest)) / (log(longest) - log(shortest));
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * (SameName::kBins - 1) + 0.5);
}

SameName sameName(const Trace& trace, const Slice& slice, const std::stop_token& stop)
{
    SameName same;
    std::vector<std::int64_t> durations;
    const auto own = orderOf(slice.begin, slice.id);
    TraceTime previous{}, next{};
    for (const Track& track : trace.tracks())
        forEachViewOf(
            trace, track.id, slice.kind,
            [&](const SliceView& view) {
                if (view.nameId() != slice.name)
                    return;
                const TraceTime begin = view.begin();
                const SliceId id = view.id();
                const Nanoseconds duration = view.duration();
                if (durations.empty() || duration < same.shortest)
                    std::tie(same.shortest, same.shortestSlice) = std::tuple(duration, id);
                if (durations.empty() || duration > same.longest)
                    std::tie(same.longest, same.longestSlice) = std::tuple(duration, id);
                durations.push_back(duration.count());
                same.total += duration;
                same.shorter += duration < slice.duration ? 1 : 0;
                const auto order = orderOf(begin, id);
                if (order < own && (!same.previous || order > orderOf(previous, *same.previous)))
                    std::tie(previous, same.previous) = std::tuple(begin, id);
                if (order > own && (!same.next || order < orderOf(next, *same.next)))
                    std::tie(next, same.next) = std::tuple(begin, id);
            },
            stop);
    same.count = static_cast<std::int64_t>(durations.size());
    if (durations.empty() || stop.stop_requested())
        return same;
    for (const std::int64_t duration : durations)
        ++same.bins[binOf(Nanoseconds{duration}, same.shortest, same.longest)];
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::nth_element(durations.begin(), middle, durations.end());
    same.median = Nanoseconds{*middle};
    return same;
}

WorkLaunchedInside workLaunchedInside(const Trace& trace, const Slice& slice, const std::stop_token& stop)
{
    WorkLaunchedInside work;
    if (isDeviceWork(slice.kind))
        return work;
    std::vector<std::uint64_t> calls;
    trace.forEach(slice.id.track, slice.range(), [&](const Slice& call) {
        const bool inside = call.begin >= slice.begin && call.begin + call.duration <= slice.begin + slice.duration;
        if (inside && (call.kind == ActivityKind::CudaRuntime || call.kind == ActivityKind::CudaDriver) &&
            call.correlation.value != 0)
            calls.push_back(call.correlation.value);
        return !stop.stop_requested();
    });
    if (calls.empty())
        return work;
    std::sort(calls.begin(), calls.end());
    Nanoseconds longest{-1};
    const auto take = [&](const SliceView& view) {
        if (view.end() < slice.begin || !std::binary_search(calls.begin(), calls.end(), view.correlation().value))
            return;
        work.begin = work.count == 0 ? view.begin() : std::min(work.begin, view.begin());
        work.end = work.count == 0 ? view.end() : std::max(work.end, view.end());
        ++work.count;
        work.time += view.duration();
        if (view.duration() > longest)
            std::tie(longest, work.longest) = std::tuple(view.duration(), view.id());
    };
    for (const Track& track : trace.tracks())
        for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
            forEachViewOf(trace, track.id, kind, take, stop);
    return work;
}

} // namespace profiler::analysis
