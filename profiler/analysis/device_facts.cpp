#include "profiler/analysis/device_facts.h"

#include <algorithm>
#include <iterator>

namespace profiler::analysis {
namespace {

std::vector<TimeRange> judgedSteps(const std::vector<Step>& steps)
{
    const bool anySteady = std::any_of(steps.begin(), steps.end(), isSteady);
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (!anySteady || isSteady(step))
            ranges.push_back(step.range);
    return ranges;
}

bool beginsWithin(const Slice& slice, std::span<const TimeRange> window)
{
    const auto after = std::upper_bound(window.begin(), window.end(), slice.begin,
                                        [](TraceTime time, const TimeRange& range) { return time < range.begin; });
    return after != window.begin() && std::prev(after)->contains(slice.begin);
}

} // namespace

double DeviceFacts::idleShare() const
{
    const Nanoseconds all = windowTime();
    return all.count() > 0 ? static_cast<double>(total(subtract(window, any)).count()) / static_cast<double>(all.count()) : 0;
}

double DeviceFacts::idleShare(std::string_view cause) const
{
    const auto found = std::find_if(idle.begin(), idle.end(), [&](const IdleCause& row) { return row.cause == cause; });
    const auto all = static_cast<double>(windowTime().count()) * std::max(devices, 1);
    return found == idle.end() || all <= 0 ? 0 : static_cast<double>(found->time.count()) / all;
}

DeviceFacts deviceFacts(const Trace& trace, const std::vector<Step>& steps)
{
    DeviceFacts facts;
    facts.steps = judgedSteps(steps);
    facts.window = unite(facts.steps.empty() ? std::vector<TimeRange>{trace.range()} : facts.steps);
    std::vector<TimeRange> kernels;
    for (const Slice& kernel : trace.ofKind(ActivityKind::Kernel))
        kernels.push_back(kernel.range());
    facts.kernels = unite(std::move(kernels));
    facts.any = deviceBusy(trace);
    if (!facts.hasWork())
        return facts;
    facts.work = kernelWork(trace, facts.window);
    facts.copies = trace.ofKind(ActivityKind::GpuMemcpy);
    std::erase_if(facts.copies, [&](const Slice& copy) { return !beginsWithin(copy, facts.window); });
    facts.idle = idleCauses(trace, facts.window);
    facts.devices = static_cast<int>(deviceUse(trace).size());
    return facts;
}

} // namespace profiler::analysis
