#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "tensors.share_memory";
using namespace profiler;
using namespace profiler::analysis;

// Of the step: below, who owns the memory matters more.
constexpr double kWorthFixing = 0.01;

/// At least half of the copy, as the loader's memory has to be brought into the caches in any case. At most all that
/// is done where batches become tensors, and what some steps spend outside of their phases more than usual: memory that
/// is given back to the system.
std::optional<Saving> saving(const Case& c, double cloneUs)
{
    if (hasDeviceWork(c.trace))
        return std::nullopt;
    std::vector<double> other;
    for (const Step& step : c.facts.steps)
        if (isSteady(step))
            other.push_back(toUs(step.parts.other));
    const double copyUs = std::max(cloneUs, toUs(c.facts.statistics.steadyMeanParts.copy));
    const double low = cloneUs / 2, high = copyUs + std::max(0.0, mean(other) - percentile(other, 0.5));
    return perStep(low, (low + high) / 2, high);
}

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
    advice.concerns = share;
    advice.saving = saving(c, clone->totalUsPerStep);
    if (!advice.saving)
        advice.whyNoPrediction = "Whether a device hides the copy is not recorded.";
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
