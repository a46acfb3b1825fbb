#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "tensors.share_memory";
using namespace profiler;
using namespace profiler::analysis;

// Of the step: below, who owns the memory matters more.
constexpr double kWorthFixing = 0.01;
// µs: what copying 128 KiB takes. What is larger the C library may give back to the system when it is freed.
constexpr double kLargeCopyUs = 13;

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::shareMemory])
        return silent("Tensors are made on the loader's memory already.");
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell("Operators were not recorded.");
    const double copyUs = toUs(c.facts.statistics.steadyMeanParts.copy);
    const OpCost* clone = c.facts.ops.find("aten::clone", phase::kCopy);
    if (!clone && copyUs == 0 && !c.config)
        return cannotTell("The trace does not mark where a batch becomes tensors.");
    const double share = clone ? clone->totalUsPerStep / c.facts.statistics.steadyMeanUs : 0;
    if (share < kWorthFixing)
        return silent(fmt::format("Copying batches on the host takes only {} of a step.", shareText(share)));
    Advice advice = fires(fmt::format("Each batch is copied on the host right after it was made: {}, {} of the step.",
                                      timeText(clone->totalUsPerStep), shareText(share)));
    // At least the copy's own operators; at most all that the step does where batches become tensors.
    const double low = std::min(clone->totalUsPerStep, copyUs), high = std::max(clone->totalUsPerStep, copyUs);
    if (low > kLargeCopyUs)
        advice.whyNoPrediction =
            "What taking the memory of so large a copy from the system and giving it back costs, and "
            "what it drives out of the caches, is not in this trace.";
    else
        advice.saving = perStep(low, (low + high) / 2, high);
    advice.caveats = {"The memory must live as long as the tensor, and nobody may write to it meanwhile."};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, std::vector{clone->longest});
    return advice;
}

} // namespace

Rule tensors_share_memory()
{
    return {kKey, "Each batch is copied once more", check};
}

} // namespace advisor::rules
