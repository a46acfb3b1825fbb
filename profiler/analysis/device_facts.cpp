#include "profiler/analysis/device_facts.h"

#include "profiler/analysis/judged_steps.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/step_marks.h"
#include "profiler/analysis/working_devices.h"

#include <algorithm>
#include <iterator>

namespace profiler::analysis {
namespace {

/// Without step marks: from the first to the last work of a device, since what lies around it is start and end of the
/// recording. Source: Nsight Systems leaves both out of its gpu_gaps.
std::vector<TimeRange> judgedWindow(const Trace& trace, const DeviceFacts& facts)
{
    if (!facts.steps.empty())
        return unite(facts.steps);
    return {facts.any.empty() ? trace.range() : TimeRange{facts.any.front().begin, facts.any.back().end}};
}

/// The window between the first and the last work of any device: a device that has nothing yet waits for no step, and
/// the marks of steps may lie on the host long before the work that they launch.
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
    const Intervals judged = betweenWork(*this);
    const auto all = static_cast<double>(total(judged).count());
    return all > 0 ? static_cast<double>(total(subtract(judged, any)).count()) / all : 0;
}

double DeviceFacts::idleShare(std::string_view cause) const
{
    const auto found = std::find_if(idle.begin(), idle.end(), [&](const IdleCause& row) { return row.cause == cause; });
    const auto all = static_cast<double>(total(betweenWork(*this)).count()) * std::max(devices, 1);
    return found == idle.end() || all <= 0 ? 0 : static_cast<double>(found->time.count()) / all;
}

DeviceFacts deviceFacts(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps)
{
    DeviceFacts facts;
    facts.steps = judgedSteps(steps);
    facts.ranks = markingProcesses(trace, steps);
    for (const auto& [id, device] : scan.devices)
        facts.kernels = unite(std::move(facts.kernels), device.allKernels());
    facts.any = deviceBusy(scan);
    facts.window = judgedWindow(trace, facts);
    if (!facts.hasWork())
        return facts;
    facts.work = kernelWork(trace, facts.window);
    if (facts.work.all.count == 0 && facts.steps.size() < steps.size()) { // all kernels lie in the first steps
        facts.steps = judgedSteps(steps, true);
        facts.window = judgedWindow(trace, facts);
        facts.work = kernelWork(trace, facts.window);
    }
    facts.copies = trace.ofKind(ActivityKind::GpuMemcpy);
    std::erase_if(facts.copies, [&](const Slice& copy) { return !beginsWithin(copy, facts.window); });
    if (const Intervals judged = betweenWork(facts); !judged.empty())
        facts.idle = idleCauses(scan, judged);
    facts.devices = static_cast<int>(workingDevices(scan).size());
    return facts;
}

} // namespace profiler::analysis
