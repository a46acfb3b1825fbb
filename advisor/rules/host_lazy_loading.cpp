#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kCause = "lazy_loading";
// Minimum share of the time that a device waits for code loading. Chosen: 5 %, as for data; less disappears in the
// variation between steps.
constexpr double kMinimumShare = 0.05;

/// Slices in which the host loads kernel code, and the slices that the profiler records as the driver's overhead for
/// it.
struct Loads {
    std::vector<Slice> inWindow; ///< in the analysis window, longest first
    std::vector<Slice> warmUp;   ///< outside the analysis window, longest first
    Nanoseconds warmUpTime{};
    [[nodiscard]] bool any() const { return !inWindow.empty() || !warmUp.empty(); }
};

Loads loadsOf(const RuleContext& c)
{
    Loads loads;
    UnionBuilder warmUp;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Overhead})
        for (const Slice& slice : ofKindNamed(c.trace, kind, isCodeLoading)) {
            (beginsWithin(slice, c.facts.device.window) ? loads.inWindow : loads.warmUp).push_back(slice);
            if (!beginsWithin(slice, c.facts.device.window))
                warmUp.add(slice.range());
        }
    loads.warmUpTime = total(warmUp.take());
    for (std::vector<Slice>* slices : {&loads.inWindow, &loads.warmUp})
        std::stable_sort(slices->begin(), slices->end(),
                         [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    return loads;
}

/// Number of steady-state steps that contain loads.
std::size_t stepsWith(const RuleContext& c, const Loads& loads)
{
    const std::vector<TimeRange>& steps = c.facts.device.steps;
    return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [&](const TimeRange& step) {
        return std::any_of(loads.inWindow.begin(), loads.inWindow.end(),
                           [&](const Slice& load) { return step.contains(load.begin); });
    }));
}

/// A replay without the loads. No estimate if only one step contains loads, because they may not recur.
void predict(Advice& advice, const RuleContext& c, const Loads& loads, std::size_t steps)
{
    if (steps < 2) {
        advice.whyNoPrediction =
            c.facts.device.steps.empty()
                ? Message(noStepMarks("the saving per step is unknown"))
                : message<
                      "host.lazy_loading.one_step",
                      "Only one step contains loads: the code of a kernel is loaded once, so they may not recur.">();
        return;
    }
    SliceSet chosen;
    for (const Slice& load : loads.inWindow)
        chosen.insert(load.id);
    const WhatIf without = [&](const ReplayWork& work) {
        const bool goes = work.where == ReplayWork::Where::Host && chosen.contains(work.slice);
        return ReplayChange{.factor = goes ? 0.0 : 1.0};
    };
    advice.saving = savingByReplay(c, chosen, without, without);
    if (!advice.saving)
        advice.whyNoPrediction = message<"host.lazy_loading.too_few_launches",
                                         "Too few launches are recorded to replay the steps without the loads.">();
}

void addCaveats(Advice& advice)
{
    advice.caveats = {
        message<"host.lazy_loading.once", "A process loads the same code only once: this hardly affects long training "
                                          "runs, but it distorts timings of few steps.">(),
        message<"host.lazy_loading.eager",
                "Eager loading moves all loads to the start, takes longer in total and needs more device memory.">()};
    advice.whyNoToggle =
        message<"host.lazy_loading.no_toggle",
                "The driver reads an environment variable at startup; it is not a setting of the trainer.">();
}

Advice finding(const RuleContext& c, const Loads& loads, double share)
{
    const std::size_t steps = stepsWith(c, loads), all = c.facts.device.steps.size();
    Advice advice = fires(
        all == 0 ? message<"host.lazy_loading.without_steps",
                           "The device idles {share} of the recorded time while the driver loads kernel code ({loads} "
                           "loads). The trace has no steps, so this is not per step.">(
                       {{"share", share, shareText(share)}, {"loads", loads.inWindow.size()}})
                 : message<"host.lazy_loading.idle", "The device idles {share} of the time while the driver loads "
                                                     "kernel code ({loads} loads, in {steps} of {all} steps).">(
                       {{"share", share, shareText(share)},
                        {"loads", loads.inWindow.size()},
                        {"steps", steps},
                        {"all", all}}));
    advice.timeShare = share;
    predict(advice, c, loads, steps);
    addCaveats(advice);
    addEvidence(advice, c.trace, loads.inWindow);
    return advice;
}

/// Loads during warm-up: they are excluded from the steady state and do not matter for long training runs.
Advice inWarmUp(const RuleContext& c, const Loads& loads)
{
    const double us = toUs(loads.warmUpTime), recordedUs = toUs(recordedWarmUp(c).recorded.duration());
    const double share = recordedUs > 0 ? std::min(1.0, us / recordedUs) : 0;
    if (share < kMinimumShare)
        return silent(message<"host.lazy_loading.short",
                              "Kernel code is loaded only during warm-up ({time}), which is excluded.">(
            {{"time", us, timeText(us)}}));
    Advice advice =
        fires(message<"host.lazy_loading.warm_up",
                      "Loading kernel code takes {time}, {share} of the recorded time, all of it during warm-up.">(
            {{"time", us, timeText(us)}, {"share", share, shareText(share)}, {"loads", loads.warmUp.size()}}));
    advice.whyNoPrediction =
        message<"host.lazy_loading.not_in_steps", "Steady steps load no code, so they would not get faster.">();
    addCaveats(advice);
    addEvidence(advice, c.trace, loads.warmUp);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutDeviceWork(
            c, message<"host.lazy_loading.cpu", "The run used only the CPU: no code is loaded for a device.">()))
        return *advice;
    if (!recordsHost(c.trace))
        return cannotTell(
            message<"host.lazy_loading.no_host",
                    "The trace does not record the CPU and therefore contains no loads of kernel code.">(),
            Need::KernelsAndHost);
    const Loads loads = loadsOf(c);
    if (!loads.any())
        return silent(message<"host.lazy_loading.none", "No kernel code was loaded during the recording.">());
    if (loads.inWindow.empty())
        return inWarmUp(c, loads);
    const double share = c.facts.device.idleShare(kCause);
    if (share < kMinimumShare)
        return silent(message<"host.lazy_loading.rare", "The device waits for kernel code only {share} of the time.">(
            {{"share", share, shareText(share)}}));
    return finding(c, loads, share);
}

} // namespace

Rule host_lazy_loading()
{
    return {"host.lazy_loading", "Steps wait for kernel code to load", check, Needs::Steps,
            TimePart::WarmUp | TimePart::Launch};
}

} // namespace advisor::rules
