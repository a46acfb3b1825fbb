#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/phase_cost.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/phases.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// An operator or several for each parameter are hundreds; a fused or foreach optimizer takes a handful.
constexpr double kSingleTensorOps = 50;
// Of the step that the optimizer takes: below, there is nothing to win.
constexpr double kWorthFixing = 0.02;

struct OptimizerUse {
    double ops = 0;     ///< a step, other than foreach and fused ones
    double manyOps = 0; ///< foreach and fused ones
    std::vector<SliceId> longest;
};

bool isOverMany(std::string_view op)
{
    return op.find("_foreach_") != op.npos || op.find("_fused_") != op.npos;
}

OptimizerUse optimizerUse(const OpCosts& costs)
{
    OptimizerUse use;
    for (const OpCost& op : costs.ops) {
        if (op.phase != phase::kOptimizer)
            continue;
        // Bookkeeping of foreach implementations, once for each tensor and without a kernel.
        if (op.name == "aten::result_type" || op.name == "aten::empty")
            continue;
        (isOverMany(op.name) ? use.manyOps : use.ops) += op.countPerStep;
        if (!isOverMany(op.name) && use.longest.size() < kMostEvidence)
            use.longest.push_back(op.longest);
    }
    return use;
}

/// µs of a step in which the host was in the optimizer and no device did anything: what of it can be told where the
/// trace does not say what the optimizer launched.
double idleUsInOptimizer(const Case& c)
{
    const DeviceFacts& device = c.facts.device;
    return device.usPerStep(total(subtract(hostInPhases(c, {phase::kOptimizer}), device.any)));
}

Advice check(const Case& c)
{
    const auto configured = setting(c, "optimizer.implementation");
    if (configured && *configured != "plain")
        return silent("The optimizer works on many tensors at once already.");
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell("Operators were not recorded.");
    double optimizerUs = toUs(c.facts.statistics.steadyMeanParts.optimizer);
    if (optimizerUs == 0)
        return cannotTell("The trace does not mark the optimizer's part of the step.");
    const OptimizerUse use = optimizerUse(c.facts.ops);
    if (use.manyOps > 0)
        return silent(fmt::format("The optimizer works on many tensors at once ({} foreach or fused operators a step).",
                                  countText(use.manyOps)));
    if (use.ops < kSingleTensorOps)
        return silent(fmt::format("The optimizer runs only {} operators a step.", countText(use.ops)));
    if (!hasDeviceWork(c.trace) && !ranOnCpu(c))
        return cannotTell(deviceNotRecorded(c));
    bool launchesKnown = true;
    if (hasDeviceWork(c.trace)) {
        const auto us = deviceUsOfPhases(c, {phase::kOptimizer});
        launchesKnown = us.has_value();
        optimizerUs = std::min(us ? *us : idleUsInOptimizer(c), c.facts.statistics.steadyMeanUs);
    }
    const double share = optimizerUs / c.facts.statistics.steadyMeanUs;
    if (share < kWorthFixing && !launchesKnown)
        return cannotTell(fmt::format("The trace does not record what the optimizer's {} operators a step launched, "
                                      "and no device waits for them.",
                                      countText(use.ops)));
    if (share < kWorthFixing)
        return silent(fmt::format("The optimizer takes only {} of the step.", shareText(share)));
    Advice advice = fires(
        fmt::format("The optimizer updates one tensor after the other: {} operators a step, {} of it{}.",
                    countText(use.ops), shareText(share),
                    launchesKnown ? "" : ", counting only when the device waits: what they launched is not recorded"));
    advice.concerns = share;
    advice.whyNoPrediction =
        "Foreach and fused optimizers run other kernels, whose times are not in this trace: measure it.";
    advice.caveats = {"A foreach optimizer needs temporary memory as large as the weights; a fused one does not."};
    setToggleToFirst(advice, c, "optimizer.implementation", {"fused", "foreach"});
    addEvidence(advice, c.trace, use.longest);
    return advice;
}

} // namespace

Rule optimizer_fused()
{
    return {"optimizer.fused", "The optimizer updates one tensor at a time", check};
}

} // namespace advisor::rules
