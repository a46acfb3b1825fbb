#include "profiler/analysis/device/device_facts.h"

#include "profiler/analysis/device/working_devices.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/one_time_work.h"
#include "profiler/analysis/steps/steady_state_steps.h"
#include "profiler/analysis/steps/step_marks.h"
#include "profiler/analysis/steps/warm_up_end.h"

#include <algorithm>
#include <iterator>

namespace profiler::analysis {
namespace {

/// The start of the steady part of a trace without steps: the end of the host's one-time work, if that takes at least
/// kLeastWarmUpExcess of the time until then.
TraceTime steadyBegin(const Trace& trace, TimeRange span)
{
    const Intervals work = oneTimeIntervals(oneTimeWork(trace, span));
    if (work.empty())
        return span.begin;
    const TraceTime end = std::min(work.back().end, span.end);
    const bool isMuch = toUs(total(work)) >= kLeastWarmUpExcess * toUs(end - span.begin);
    return isMuch && end < span.end ? end : span.begin;
}

/// Without steps: from the first to the last device work, because the time around it is the start and end of the
/// recording; the warm-up is excluded. Source: the gpu_gaps report of Nsight Systems also excludes start and end.
std::vector<TimeRange> analysedWindow(const Trace& trace, const DeviceFacts& facts)
{
    if (!facts.steps.empty())
        return unite(facts.steps);
    if (facts.any.empty())
        return {trace.range()};
    const TimeRange span{facts.any.front().begin, facts.any.back().end};
    return {TimeRange{steadyBegin(trace, span), span.end}};
}

/// The window between the first and the last work of any device. Before its first work, a device does not wait for a
/// step, and on the host the marks of steps may be long before the work that they launch.
Intervals betweenWork(const DeviceFacts& facts)
{
    if (facts.any.empty())
        return {};
    const std::vector<TimeRange> hull{{facts.any.front().begin, facts.any.back().end}};
    return intersect(facts.window, hull);
}

} // namespace

double DeviceFacts::idleShare() const
{
    const Intervals analysed = betweenWork(*this);
    const auto all = static_cast<double>(total(analysed).count());
    return all > 0 ? static_cast<double>(total(subtract(analysed, any)).count()) / all : 0;
}

const IdleCause* DeviceFacts::idleCause(std::string_view cause) const
{
    const auto found = std::find_if(idle.begin(), idle.end(), [&](const IdleCause& row) { return row.cause == cause; });
    return found == idle.end() ? nullptr : &*found;
}

double DeviceFacts::idleShare(std::string_view cause) const
{
    const IdleCause* found = idleCause(cause);
    const auto all = static_cast<double>(total(betweenWork(*this)).count()) * std::max(devices, 1);
    return !found || all <= 0 ? 0 : static_cast<double>(found->time.count()) / all;
}

std::vector<double> DeviceFacts::idleInEachStep(std::initializer_list<std::string_view> causes) const
{
    std::vector<double> us(steps.size());
    for (const std::string_view cause : causes)
        if (const IdleCause* found = idleCause(cause))
            for (const auto& [device, where] : found->everywhere)
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    const std::vector<TimeRange> step{steps[i]};
                    us[i] += toUs(total(intersect(step, overlapping(where, steps[i])))) / std::max(devices, 1);
                }
    return us;
}

namespace {

/// Below this share of the window, no rule reports idle time, so launches need not be examined. The smallest threshold
/// of such a rule is 2 % (sync.every_n_steps).
constexpr double kLeastIdle = 0.01;

/// The times in which the host autotunes, compiles, launches for the first time or fills its allocator's cache, in the
/// recorded steps. Without steps: from the first to the last device work. Loading of code is a separate cause.
Intervals warmUpWork(const Trace& trace, const std::vector<Step>& steps, const Intervals& any)
{
    const TimeRange recorded = steps.empty() ? TimeRange{any.front().begin, any.back().end}
                                             : TimeRange{steps.front().range.begin, steps.back().range.end};
    std::vector<OneTimePart> parts = oneTimeWork(trace, recorded);
    std::erase_if(parts, [](const OneTimePart& part) { return part.kind == OneTimeKind::CodeLoading; });
    return oneTimeIntervals(parts);
}

void attributeTime(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps,
                   const Intervals& analysed, DeviceFacts& facts)
{
    const std::set<DeviceId> working = workingDevices(scan);
    facts.devices = static_cast<int>(working.size());
    Nanoseconds busy{}, all{};
    for (const auto& [id, device] : scan.devices) {
        if (!working.contains(id))
            continue;
        const Intervals kernels = intersect(unite(device.kernels, device.memsets), analysed);
        const Intervals copies = subtract(intersect(device.copies, analysed), kernels);
        const Intervals communication = subtract(subtract(intersect(device.communication, analysed), kernels), copies);
        facts.computing += total(kernels);
        facts.copying += total(copies);
        facts.communicating += total(communication);
        all += total(analysed);
    }
    busy = facts.computing + facts.copying + facts.communicating;
    if (analysed.empty())
        return;
    if (toUs(all - busy) < kLeastIdle * toUs(all)) {
        facts.idle = idleCauses(scan, analysed);
        return;
    }
    const auto queued = queuedGaps(trace, scan, analysed, working);
    facts.idle = idleCauses(scan, analysed, &queued, warmUpWork(trace, steps, facts.any));
    for (const auto& [id, gaps] : queued) {
        facts.gaps += gaps.count;
        facts.queuedGaps += gaps.ofQueued;
    }
}

} // namespace

DeviceFacts deviceFacts(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps)
{
    DeviceFacts facts;
    facts.steps = steadyStateSteps(steps);
    facts.ranks = markingProcesses(trace, steps);
    for (const auto& [id, device] : scan.devices)
        facts.kernels = unite(std::move(facts.kernels), device.allKernels());
    facts.any = deviceBusy(scan);
    facts.window = analysedWindow(trace, facts);
    if (!facts.hasWork())
        return facts;
    facts.work = kernelWork(trace, facts.window);
    if (facts.work.all.count == 0 && facts.steps.size() < steps.size()) { // all kernels are in the first steps
        facts.steps = steadyStateSteps(steps, true);
        facts.window = analysedWindow(trace, facts);
        facts.work = kernelWork(trace, facts.window);
    }
    facts.copies = trace.ofKind(ActivityKind::GpuMemcpy);
    std::erase_if(facts.copies, [&](const Slice& copy) { return !beginsWithin(copy, facts.window); });
    attributeTime(trace, scan, steps, betweenWork(facts), facts);
    return facts;
}

} // namespace profiler::analysis
