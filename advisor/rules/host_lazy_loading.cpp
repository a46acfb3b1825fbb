#include "advisor/chosen_work.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kCause = "lazy_loading";
// Of the time that a device waits for it: below, nobody would miss it.
constexpr double kWorthFixing = 0.05;

/// Loads of kernels' code on the host and what the profiler calls the driver's overhead for it.
struct Loads {
    std::vector<Slice> judged; ///< while the judged steps ran, longest first
    Nanoseconds other{};       ///< of the others: of first steps
    bool any = false;
};

Loads loadsOf(const Case& c)
{
    Loads loads;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Overhead})
        for (const Slice& slice : ofKindNamed(c.trace, kind, isCodeLoading)) {
            loads.any = true;
            if (beginsWithin(slice, c.facts.device.window))
                loads.judged.push_back(slice);
            else
                loads.other += slice.duration;
        }
    std::stable_sort(loads.judged.begin(), loads.judged.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    return loads;
}

/// How many of the judged steps have some.
std::size_t stepsWith(const Case& c, const Loads& loads)
{
    const std::vector<TimeRange>& steps = c.facts.device.steps;
    return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](const TimeRange& step) {
        return std::any_of(loads.judged.begin(), loads.judged.end(),
                           [&](const Slice& load) { return step.contains(load.begin); });
    }));
}

/// A replay without the loads; where they lie in one step alone there is nothing that comes back.
void predict(Advice& advice, const Case& c, const Loads& loads, std::size_t steps)
{
    if (steps < 2) {
        advice.whyNoPrediction = c.facts.device.steps.empty()
                                     ? noStepMarks("what a step would save is not known")
                                     : std::string("It lies in one step: that does not show whether it comes back. A "
                                                   "kernel's code is loaded once.");
        return;
    }
    SliceSet chosen;
    for (const Slice& load : loads.judged)
        chosen.insert(load.id);
    const WhatIf without = [&](const ReplayWork& work) {
        const bool goes = work.where == ReplayWork::Where::Host && chosen.contains(work.slice);
        return ReplayChange{.factor = goes ? 0.0 : 1.0};
    };
    advice.saving = savingByReplay(c, chosen, without, without);
    if (!advice.saving)
        advice.whyNoPrediction = "Too few of the device's launches are known for a replay without the loads.";
}

Advice finding(const Case& c, const Loads& loads, double share)
{
    const std::size_t steps = stepsWith(c, loads), all = c.facts.device.steps.size();
    const std::string where =
        all == 0 ? "" : fmt::format(", in {} of {} step{}", countText(steps), countText(all), all == 1 ? "" : "s");
    Advice advice = fires(
        fmt::format("The device idles {} of the time while the driver loads kernels' code at their first launch: {} "
                    "load{}{}.",
                    shareText(share), countText(loads.judged.size()), loads.judged.size() == 1 ? "" : "s", where));
    advice.concerns = share;
    predict(advice, c, loads, steps);
    advice.caveats = {"The same code is loaded once in a process: where this is a first step, a long training does not "
                      "feel it, but timings of few steps do. Warm up before you time.",
                      "Eager loading moves all of it to the start, takes longer in sum and more device memory."};
    advice.whyNoToggle = "An environment variable that is read when the driver starts: no setting of the trainer.";
    addEvidence(advice, c.trace, loads.judged);
    return advice;
}

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: there is no device to load code for."))
        return *advice;
    if (!recordsTheHost(c.trace))
        return cannotTell("The trace holds nothing of the host: loads of kernels' code are not in it.");
    const Loads loads = loadsOf(c);
    if (!loads.any)
        return silent("No kernel's code was loaded while this was recorded.");
    const double share = c.facts.device.idleShare(kCause);
    if (loads.judged.empty())
        return silent(fmt::format("Kernels' code is loaded in the first steps alone ({} in all): it comes once. Leave "
                                  "those steps out of what you time.",
                                  timeText(toUs(loads.other))));
    if (share < kWorthFixing)
        return silent(
            fmt::format("The device waits for kernels' code to be loaded only {} of the time.", shareText(share)));
    return finding(c, loads, share);
}

} // namespace

Rule host_lazy_loading()
{
    return {"host.lazy_loading", "Steps wait for kernels' code to be loaded", check, Needs::Steps,
            TimePart::WarmUp | TimePart::Launch};
}

} // namespace advisor::rules
