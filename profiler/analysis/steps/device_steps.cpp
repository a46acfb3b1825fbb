#include "profiler/analysis/steps/device_steps.h"

#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <optional>

namespace profiler::analysis {

namespace {

bool isBehind(TraceTime deviceEnd, const std::vector<Step>& steps)
{
    const TraceTime last = steps.back().range.end;
    return toUs(deviceEnd - last) > kMostBehind * toUs(last - steps.front().range.begin);
}

/// True if a device may work for these steps long after the last mark, as far as the blocks of its streams tell.
bool mayBeBehind(const Trace& trace, const std::vector<Step>& steps)
{
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            for (const BlockRef& block : trace.slicesOf(track.id).blocks)
                if (isBehind(traceTime(block.summary().lastEnd), steps))
                    return true;
    return false;
}

/// For each step, when the work that it launched ends; empty for steps without work.
std::vector<std::optional<TraceTime>> endsOfWork(const Trace& trace, const std::vector<Step>& steps)
{
    std::vector<std::optional<TraceTime>> ends(steps.size());
    const LaunchCalls calls(trace);
    if (calls.empty())
        return ends;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachView(trace, track.id, [&](const SliceView& work) {
                if (!isDeviceWork(work.kind()))
                    return;
                const LaunchCall* call = calls.find(work.correlation().value);
                if (!call || call->range.begin >= steps.back().range.end ||
                    !isOfSameProcess(trace, trace.track(call->slice.track), steps))
                    return;
                const auto after =
                    std::upper_bound(steps.begin(), steps.end(), call->range.begin,
                                     [](TraceTime time, const Step& step) { return time < step.range.begin; });
                if (after == steps.begin())
                    return;
                std::optional<TraceTime>& end = ends[static_cast<std::size_t>(after - steps.begin()) - 1];
                end = std::max(end.value_or(work.range().end), work.range().end);
            });
    return ends;
}

} // namespace

void measureOnDevice(const Trace& trace, std::vector<Step>& steps)
{
    if (steps.empty() || trace.captureStats().live || !mayBeBehind(trace, steps))
        return;
    const std::vector<std::optional<TraceTime>> ends = endsOfWork(trace, steps);
    const auto last = std::max_element(ends.begin(), ends.end());
    if (!*last || !isBehind(**last, steps))
        return;
    TraceTime previous = steps.front().range.begin;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step& step = steps[i];
        // A step without work, such as a mark that never ran, ends with its mark if the device is idle then.
        const TraceTime end = std::max(ends[i].value_or(step.range.end), previous + Nanoseconds(1));
        step.mark = step.range;
        step.range = {previous, end};
        previous = end;
    }
}

bool areMeasuredOnDevice(const std::vector<Step>& steps)
{
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.mark.has_value(); });
}

} // namespace profiler::analysis
