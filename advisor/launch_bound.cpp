#include "advisor/launch_bound.h"

#include "advisor/verdict.h"

#include <algorithm>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

LaunchBound launchBound(const Case& c)
{
    const DeviceFacts& device = c.facts.device;
    LaunchBound bound;
    bound.marksSteps = !device.steps.empty();
    bound.launchShare = device.idleShare("launch");
    bound.hostShare = bound.launchShare + device.idleShare("other");
    bound.idleShare = device.idleShare();
    bound.smallShare = device.work.all.count > 0
                           ? static_cast<double>(device.work.under10us) / static_cast<double>(device.work.all.count)
                           : 0;
    for (const IdleCause& cause : device.idle)
        if (cause.cause == (bound.launchShare >= LaunchBound::kPart ? "launch" : "other"))
            bound.cause = &cause;
    return bound;
}

std::vector<Evidence> longestGaps(const Case& c, const IdleCause& cause)
{
    const Track* busiest = nullptr;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream && track.device == cause.device &&
            (!busiest || c.trace.sliceCount(track.id) > c.trace.sliceCount(busiest->id)))
            busiest = &track;
    std::vector<Evidence> evidence;
    if (!busiest)
        return evidence;
    Intervals gaps = cause.where;
    const auto most = static_cast<std::ptrdiff_t>(std::min(gaps.size(), kMostEvidence));
    std::partial_sort(gaps.begin(), gaps.begin() + most, gaps.end(),
                      [](TimeRange a, TimeRange b) { return a.duration() > b.duration(); });
    for (auto gap = gaps.begin(); gap != gaps.begin() + most; ++gap)
        evidence.push_back(
            {.track = busiest->id, .slice = std::nullopt, .range = *gap, .name = "idle: " + std::string(cause.cause)});
    return evidence;
}

} // namespace advisor
