#include "advisor/evidence/launch_bound.h"

#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// The queue of all devices, weighted with their work. It costs a walk over all launches: asked for only where the host
/// or the queue has the device idle long enough to matter.
void addQueue(const Case& c, LaunchBound& bound)
{
    double work = 0;
    for (const DeviceLaunches& device : c.launches().devices) {
        const auto weight = static_cast<double>(device.work);
        bound.queueAtStart += weight * device.queueAtStart;
        bound.latencyUs += weight * device.delayUs;
        work += weight;
    }
    if (work > 0) {
        bound.queueAtStart /= work;
        bound.latencyUs /= work;
    }
}

} // namespace

LaunchBound launchBound(const Case& c)
{
    const DeviceFacts& device = c.facts.device;
    LaunchBound bound;
    bound.marksSteps = !device.steps.empty();
    bound.launchShare = device.idleShare("launch");
    bound.hostShare = bound.launchShare + device.idleShare("other");
    bound.queuedShare = device.idleShare("queued");
    bound.idleShare = device.idleShare();
    bound.smallShare = device.work.all.count > 0
                           ? static_cast<double>(device.work.under10us) / static_cast<double>(device.work.all.count)
                           : 0;
    bound.queueKnown = device.gaps > 0;
    if (bound.queueKnown)
        bound.queuedGapShare = static_cast<double>(device.queuedGaps) / static_cast<double>(device.gaps);
    bound.cause = device.idleCause(bound.launchShare >= LaunchBound::kPart ? "launch" : "other");
    if (bound.queueKnown && bound.hostShare + bound.queuedShare >= LaunchBound::kShare)
        addQueue(c, bound);
    return bound;
}

Advice silentForTheQueue(const LaunchBound& bound)
{
    return silent(message<"launch_queue.full",
                          "The CPU is ahead of the GPU: {queue} launched kernels and copies wait when one starts, "
                          "{latency} after their launch, and {gaps} of the gaps begin with work in the launch queue.">(
        {{"queue", bound.queueAtStart, countText(std::round(bound.queueAtStart * 10) / 10)},
         {"latency", bound.latencyUs, timeText(bound.latencyUs)},
         {"gaps", bound.queuedGapShare, shareText(bound.queuedGapShare)}}));
}

bool recordsTheHost(const Trace& trace)
{
    return hasKind(trace, ActivityKind::CpuOp) || hasKind(trace, ActivityKind::CudaRuntime) ||
           hasKind(trace, ActivityKind::CudaDriver) || hasKind(trace, ActivityKind::Phase);
}

double graphShare(const Case& c)
{
    const auto isGraph = [](std::string_view call) { return call.find("GraphLaunch") != call.npos; };
    std::unordered_set<std::uint64_t> graphs;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call : ofKindNamed(c.trace, kind, isGraph))
            if (call.correlation.value != 0)
                graphs.insert(call.correlation.value);
    if (graphs.empty())
        return 0;
    std::int64_t all = 0, ofGraphs = 0;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(c.trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                if (!beginsWithin(kernel.begin(), c.facts.device.window))
                    return;
                ++all;
                ofGraphs += graphs.contains(kernel.correlation().value) ? 1 : 0;
            });
    return all > 0 ? static_cast<double>(ofGraphs) / static_cast<double>(all) : 0;
}

bool capturesGraphs(const Trace& trace)
{
    return anyName(trace, [](std::string_view name) { return name.find("StreamBeginCapture") != name.npos; });
}

bool isCompiled(const Trace& trace)
{
    return anyName(trace, [](std::string_view name) {
        return name.starts_with("Torch-Compiled Region") || name.starts_with("## Call CompiledFxGraph");
    });
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
