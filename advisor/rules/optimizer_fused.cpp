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

/// µs of a step in which the host was in the optimizer while devices waited for its launches, on the mean over them:
/// what of it shows where the trace does not record what the optimizer launched.
double idleUsInOptimizer(const Case& c)
{
    const Intervals optimizing = hostInPhases(c, {phase::kOptimizer});
    Nanoseconds idle{};
    for (const std::string_view cause : {"launch", "other"})
        if (const IdleCause* found = c.facts.device.idleCause(cause))
            for (const auto& [device, where] : found->everywhere)
                idle += total(intersect(optimizing, where));
    return c.facts.device.deviceUsPerStep(idle);
}

Advice check(const Case& c)
{
    const auto configured = setting(c, "optimizer.implementation");
    if (configured && *configured != "plain")
        return silent(message<"optimizer.fused.on", "The optimizer is already foreach or fused.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell(message<"ops.not_recorded", "Operators were not recorded.">());
    double optimizerUs = toUs(c.facts.statistics.steadyMeanParts.optimizer);
    if (optimizerUs == 0)
        return cannotTell(message<"optimizer.fused.phase_not_recorded",
                                  "The trace does not mark the optimizer's part of the step.">());
    const OptimizerUse use = optimizerUse(c.facts.ops);
    if (use.manyOps > 0)
        return silent(message<"optimizer.fused.operators",
                              "The optimizer is already foreach or fused ({ops} such operators per step).">(
            {{"ops", use.manyOps, countText(use.manyOps)}}));
    if (use.ops < kSingleTensorOps)
        return silent(message<"optimizer.fused.few_ops", "The optimizer runs only {ops} operators per step.">(
            {{"ops", use.ops, countText(use.ops)}}));
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
        return cannotTell(
            message<"optimizer.fused.launches_not_recorded",
                    "The trace does not record what the optimizer's {ops} operators per step launched, and "
                    "no device waits for them.">({{"ops", use.ops, countText(use.ops)}}));
    if (share < kWorthFixing)
        return silent(message<"optimizer.fused.small", "The optimizer takes only {share} of the step.">(
            {{"share", share, shareText(share)}}));
    Advice advice = fires(
        launchesKnown
            ? message<
                  "optimizer.fused.loops",
                  "The optimizer loops over tensors (not foreach or fused): {ops} operators and {share} of the step.">(
                  {{"ops", use.ops, countText(use.ops)}, {"share", share, shareText(share)}})
            : message<
                  "optimizer.fused.loops_while_idle",
                  "The optimizer loops over tensors (not foreach or fused): {ops} operators per step. The device idles "
                  "{share} of the step meanwhile; the kernels they launched are not recorded.">(
                  {{"ops", use.ops, countText(use.ops)}, {"share", share, shareText(share)}}));
    advice.concerns = share;
    advice.whyNoPrediction = message<"prediction.other_kernels",
                                     "The change runs other kernels, whose times are not in this trace: measure it.">();
    advice.caveats = {
        message<"optimizer.fused.foreach_memory",
                "A foreach optimizer needs temporary memory as large as the weights; a fused one does not.">()};
    setToggleToFirst(advice, c, "optimizer.implementation", {"fused", "foreach"});
    addEvidence(advice, c.trace, use.longest);
    return advice;
}

} // namespace

Rule optimizer_fused()
{
    return {"optimizer.fused", "Optimizer loops over tensors (not foreach or fused)", check, Needs::Steps,
            TimePart::Launch | TimePart::Kernels};
}

} // namespace advisor::rules
