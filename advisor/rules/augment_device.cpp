#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/loader_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

constexpr std::string_view kKey = "augment.device";
// Minimum share of the step spent waiting for data: below it, the loader is fast enough.
constexpr double kMinimumShare = 0.05;
// Minimum share of the time to load a batch. Chosen: without a quarter of the work, loading is a third faster; with
// less, the wait hardly changes.
constexpr double kLargePart = 0.25;

Advice finding(const InputWait& input, const InputWait::Stage& augment)
{
    Advice advice =
        fires(message<"augment.device.waits", "Augmentation takes {share} of the time to load a batch ({time}), "
                                              "and the device waits {idle} per step for data.">(
            {{"share", augment.share, shareText(augment.share)},
             {"time", augment.usPerBatch, timeText(augment.usPerBatch)},
             {"idle", input.idleWaitUsPerStep, timeText(input.idleWaitUsPerStep)}}));
    // The workers share the loading time that is saved, and the trace does not contain the time that the device would
    // need for augmentation.
    const double saved = std::min(input.idleWaitUsPerStep, augment.usPerBatch / std::max(1, input.workers));
    advice.saving = upperBound(SavingUnit::UsPerStep, saved);
    return advice;
}

Advice findingWithoutSteps(const RuleContext& c, const InputWait::Stage& augment)
{
    const double idle = c.facts.device.idleShare("data_loader");
    Advice advice = fires(
        message<"augment.device.waits_without_steps",
                "Augmentation takes {share} of the time to load a batch ({time}), and the GPU idles for {idle} of the "
                "recorded time because it waits for data. The trace has no steps, so this is not per step.">(
            {{"share", augment.share, shareText(augment.share)},
             {"time", augment.usPerBatch, timeText(augment.usPerBatch)},
             {"idle", idle, shareText(idle)}}));
    advice.timeShare = idle;
    advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    return advice;
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"augment.device.on", "Batches are already augmented on the device.">());
    if (auto advice = withoutDeviceWork(
            c, message<"augment.device.cpu", "The run used only the CPU: there is no other device to augment on.">()))
        return *advice;
    if (auto advice = littleDataWaitWithoutSteps(c, kMinimumShare))
        return *advice;
    const bool withoutSteps = analyzesWithoutSteps(c);
    if (auto advice = withoutSteadySteps(c); advice && !withoutSteps)
        return *advice;
    const InputWait input = withoutSteps ? inputWait(c.trace, windowAsStep(c), c.facts.device.any) : c.facts.input;
    if (!withoutSteps && input.idleWaitUsPerStep < kMinimumShare * c.facts.statistics.steadyMeanUs)
        return silent(message<"augment.device.no_wait", "The device waits only {idle} per step for data.">(
            {{"idle", input.idleWaitUsPerStep, timeText(input.idleWaitUsPerStep)}}));
    if (input.stages.empty())
        return cannotTell(message<"loader.stages_not_recorded", "The loader's stages were not recorded.">(),
                          Need::Program);
    const auto augment = std::find_if(input.stages.begin(), input.stages.end(), [](const InputWait::Stage& stage) {
        return stage.name == profiler::stage::kAugment;
    });
    if (augment == input.stages.end() || augment->share < kLargePart)
        return silent(
            message<"augment.device.small_part", "Augmentation takes only {share} of the time to load a batch.">(
                {{"share", augment == input.stages.end() ? 0 : augment->share,
                  shareText(augment == input.stages.end() ? 0 : augment->share)}}));
    Advice advice = withoutSteps ? findingWithoutSteps(c, *augment) : finding(input, *augment);
    advice.caveats = {
        message<"augment.device.costs",
                "Augmentation then uses device time and memory: nothing is gained if the device is the bottleneck.">(),
        message<
            "augment.device.seed",
            "The distribution of augmentations stays the same, but the same seed gives different random numbers.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, input.longestWaits);
    return advice;
}

} // namespace

Rule augment_device()
{
    return {kKey, "Workers augment while the device waits", check, Needs::Steps, TimePart::Data};
}

} // namespace advisor::rules
