#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

constexpr std::string_view kKey = "augment.device";
// Of the step: below, the loader is fast enough as it is.
constexpr double kWorthFixing = 0.05;
// Of a batch's loading: below, something else is what loading takes.
constexpr double kLargePart = 0.25;

Advice check(const Case& c)
{
    if (setting(c, kKey) == "true")
        return silent("Batches are augmented on the device already.");
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: there is no other device to augment on."))
        return *advice;
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const InputWait& input = c.facts.input;
    if (input.idleWaitUsPerStep < kWorthFixing * c.facts.statistics.steadyMeanUs)
        return silent(
            fmt::format("The device idles only {} a step for lack of data.", timeText(input.idleWaitUsPerStep)));
    if (input.stages.empty())
        return cannotTell("The stages of the loader are not recorded.");
    const auto augment = std::find_if(input.stages.begin(), input.stages.end(), [](const InputWait::Stage& stage) {
        return stage.name == profiler::stage::kAugment;
    });
    if (augment == input.stages.end() || augment->share < kLargePart)
        return silent(fmt::format("Augmentation is only {} of a batch's loading.",
                                  shareText(augment == input.stages.end() ? 0 : augment->share)));
    Advice advice = fires(
        fmt::format("Augmentation is {} of a batch's loading ({}), and the device idles {} a step for lack of data.",
                    shareText(augment->share), timeText(augment->usPerBatch), timeText(input.idleWaitUsPerStep)));
    // What loading saves is shared among the workers; the device's own time for it is not in the trace.
    const double saved = std::min(input.idleWaitUsPerStep, augment->usPerBatch / std::max(1, input.workers));
    advice.saving = perStep(0, saved / 2, saved);
    advice.caveats = {"It takes time and memory of the device: no gain where that is the bottleneck.",
                      "The distribution stays the same; the random numbers of a seed differ."};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, input.longestWaits);
    return advice;
}

} // namespace

Rule augment_device()
{
    return {kKey, "Workers augment while the device waits", check};
}

} // namespace advisor::rules
