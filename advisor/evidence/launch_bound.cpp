#include "advisor/evidence/launch_bound.h"

#include "advisor/advice.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_set>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// Adds the launch queue of all devices, weighted by their work. Walks over all launches, so it is only called if the
/// devices idle long enough because of the host or with a filled queue.
void addQueue(const RuleContext& c, LaunchBound& bound)
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

bool isCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

struct InPhases {
    Intervals ranges;
    std::unordered_set<std::uint64_t> launched; ///< correlation ids
};

InPhases inPhases(const RuleContext& c, std::initializer_list<std::string_view> wanted)
{
    const Phases phases(c.trace);
    InPhases found;
    for (const Track& track : c.trace.tracks()) {
        if ((track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread) ||
            !isOfSameProcess(c.trace, track, c.facts.steps))
            continue;
        UnionBuilder builder;
        forEachView(c.trace, track.id, [&](const SliceView& slice) {
            const std::string_view phase = phases.of(slice);
            if (!phase.empty() && std::find(wanted.begin(), wanted.end(), phase) != wanted.end())
                builder.add(slice.range());
        });
        const Intervals ranges = intersect(builder.take(), c.facts.device.window);
        if (ranges.empty())
            continue;
        forEachView(c.trace, track.id, [&](const SliceView& slice) {
            if (!isCall(slice.kind()) || !beginsWithin(slice.begin(), ranges))
                return;
            if (slice.correlation().value != 0)
                found.launched.insert(slice.correlation().value);
        });
        found.ranges = unite(std::move(found.ranges), ranges);
    }
    return found;
}

/// The device work that these calls launched, by device. Devices of other ranks do not wait for this host.
std::map<DeviceId, Intervals> launchedWork(const RuleContext& c, const std::unordered_set<std::uint64_t>& correlations)
{
    std::map<DeviceId, UnionBuilder> work;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachView(c.trace, track.id, [&](const SliceView& slice) {
                if (isDeviceWork(slice.kind()) && correlations.contains(slice.correlation().value))
                    work[track.device].add(slice.range());
            });
    std::map<DeviceId, Intervals> launched;
    for (auto& [id, builder] : work)
        launched[id] = builder.take();
    return launched;
}

/// Times in which each device waits for the host to launch work, according to the attribution of idle time.
std::map<DeviceId, Intervals> waitsForHost(const RuleContext& c)
{
    std::map<DeviceId, Intervals> waits;
    for (const std::string_view cause : {"launch", "other"})
        if (const IdleCause* found = c.facts.device.idleCause(cause))
            for (const auto& [device, where] : found->everywhere)
                waits[device] = unite(std::move(waits[device]), where);
    return waits;
}

} // namespace

LaunchBound launchBound(const RuleContext& c)
{
    const DeviceFacts& device = c.facts.device;
    LaunchBound bound;
    bound.marksSteps = !device.steps.empty();
    bound.launchShare = device.idleShare("launch");
    const double otherShare = device.idleShare("other");
    Nanoseconds unrecorded{};
    if (const IdleCause* other = device.idleCause("other"); other && other->time.count() > 0) {
        for (const auto& [id, where] : other->everywhere)
            unrecorded += total(unrecordedHostTime(c, where));
        bound.hostShare =
            otherShare * static_cast<double>(unrecorded.count()) / static_cast<double>(other->time.count());
    }
    bound.unknownShare = otherShare - bound.hostShare;
    bound.hostShare += bound.launchShare;
    bound.queuedShare = device.idleShare("queued");
    bound.idleShare = device.idleShare();
    bound.smallShare = device.work.all.count > 0
                           ? static_cast<double>(device.work.under10us) / static_cast<double>(device.work.all.count)
                           : 0;
    bound.queueKnown = device.gaps > 0;
    if (bound.queueKnown)
        bound.queuedGapShare = static_cast<double>(device.queuedGaps) / static_cast<double>(device.gaps);
    bound.cause = device.idleCause(bound.launchShare >= LaunchBound::kPart ? "launch" : "other");
    if (bound.queueKnown && bound.hostShare + bound.unknownShare + bound.queuedShare >= LaunchBound::kShare)
        addQueue(c, bound);
    return bound;
}

Intervals launchingTimes(const Trace& trace, const std::vector<TimeRange>& steps)
{
    const auto launches = [](std::string_view call) {
        constexpr std::array<std::string_view, 3> kMarks = {"Launch", "Memcpy", "Memset"};
        return std::any_of(kMarks.begin(), kMarks.end(),
                           [&](std::string_view mark) { return call.find(mark) != call.npos; });
    };
    NameAnswers isLaunch(trace, launches);
    std::vector<TimeRange> times;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Thread && track.kind != TrackKind::MainThread)
            continue;
        std::vector<std::optional<TimeRange>> inSteps(steps.size());
        for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
            forEachViewOf(trace, track.id, kind, [&](const SliceView& call) {
                const auto after = std::upper_bound(steps.begin(), steps.end(), call.begin(),
                                                    [](TraceTime at, TimeRange step) { return at < step.begin; });
                if (after == steps.begin() || call.begin() >= std::prev(after)->end || !isLaunch(call.nameId()))
                    return;
                auto& range = inSteps[static_cast<std::size_t>(after - steps.begin()) - 1];
                const TimeRange now = call.range();
                range = range ? TimeRange{std::min(range->begin, now.begin), std::max(range->end, now.end)} : now;
            });
        for (const auto& range : inSteps)
            if (range)
                times.push_back(*range);
    }
    return unite(std::move(times));
}

Intervals unrecordedHostTime(const RuleContext& c, const Intervals& other)
{
    return other.empty() ? Intervals() : intersect(other, c.betweenLaunches());
}

std::vector<double> idleForHost(const RuleContext& c)
{
    const DeviceFacts& device = c.facts.device;
    std::vector<double> us = device.idleInEachStep({"launch"});
    const IdleCause* other = device.idleCause("other");
    if (!other)
        return us;
    for (const auto& [id, all] : other->everywhere) {
        const Intervals where = unrecordedHostTime(c, all);
        for (std::size_t i = 0; i < us.size(); ++i) {
            const std::vector<TimeRange> step{device.steps[i]};
            us[i] += toUs(total(intersect(step, overlapping(where, device.steps[i])))) / std::max(device.devices, 1);
        }
    }
    return us;
}

std::optional<Advice> withoutEnoughKernels(const RuleContext& c, const LaunchBound& bound)
{
    constexpr std::size_t kFewest = 20; // chosen: a short example launches a few, a step of training dozens
    const std::size_t count = c.facts.device.work.all.count;
    if (bound.marksSteps || count >= kFewest)
        return std::nullopt;
    return cannotTell(message<"device.few_kernels", "Without steps, {count} {count|kernel is|kernels are} too few to "
                                                    "show what the GPU usually waits for.">({{"count", count}}),
                      Need::Steps);
}

Advice silentBecauseOfQueue(const LaunchBound& bound)
{
    return silent(
        message<"launch_queue.full",
                "The CPU is ahead of the GPU: {queue} launched kernels and copies are waiting when one starts, the "
                "launch-to-start latency is {latency}, and {gaps} of the gaps begin with work in the launch queue.">(
            {{"queue", bound.queueAtStart, countText(std::round(bound.queueAtStart * 10) / 10)},
             {"latency", bound.latencyUs, timeText(bound.latencyUs)},
             {"gaps", bound.queuedGapShare, shareText(bound.queuedGapShare)}}));
}

bool recordsHost(const Trace& trace)
{
    return hasKind(trace, ActivityKind::CpuOp) || hasKind(trace, ActivityKind::CudaRuntime) ||
           hasKind(trace, ActivityKind::CudaDriver) || hasKind(trace, ActivityKind::Phase);
}

double graphShare(const RuleContext& c)
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

std::vector<Evidence> longestGaps(const RuleContext& c, const IdleCause& cause)
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

Intervals hostInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases)
{
    return inPhases(c, phases).ranges;
}

double idleUsInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases)
{
    const Intervals host = hostInPhases(c, phases);
    Nanoseconds idle{};
    for (const auto& [device, waits] : waitsForHost(c))
        idle += total(intersect(host, waits));
    return c.facts.device.deviceUsPerStep(idle);
}

std::optional<double> deviceUsOfPhases(const RuleContext& c, std::initializer_list<std::string_view> phases)
{
    const InPhases found = inPhases(c, phases);
    if (!found.ranges.empty() && found.launched.empty())
        return std::nullopt;
    const std::map<DeviceId, Intervals> launched = launchedWork(c, found.launched);
    if (!found.ranges.empty() && launched.empty())
        return std::nullopt; // calls that launched no device work, such as a synchronize
    std::map<DeviceId, Intervals> idle = waitsForHost(c);
    Nanoseconds cost{};
    for (const auto& [device, work] : launched) {
        const Intervals& waits = idle[device];
        const Nanoseconds inPhases = total(unite(work, intersect(found.ranges, waits)));
        cost += std::max(inPhases, std::min(total(found.ranges), total(waits)));
    }
    return c.facts.device.usPerStep(cost) / static_cast<double>(std::max<std::size_t>(launched.size(), 1));
}

bool slowedByProfiler(const RuleContext& c)
{
    return c.trace.format() == "pytorch-json" && hasKind(c.trace, ActivityKind::CpuOp);
}

Message profilerSlowsHost()
{
    return message<"host.profiler_cost", "PyTorch's profiler slows down the CPU while it records: without it, the GPU "
                                         "waits less.">();
}

} // namespace advisor
