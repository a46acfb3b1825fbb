#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <variant>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// An optimizer that runs operators for each parameter runs hundreds; a fused or foreach optimizer runs a handful.
constexpr double kSingleTensorOps = 50;
// Minimum share of the step that the optimizer takes: below it, there is nothing to gain.
constexpr double kMinimumShare = 0.02;

struct OptimizerUse {
    double ops = 0;     ///< per step, without foreach and fused operators
    double manyOps = 0; ///< per step, foreach and fused operators
    std::vector<SliceId> longest;
};

bool isOverMany(std::string_view op)
{
    return op.find("_foreach_") != op.npos || op.find("_fused_") != op.npos;
}

/// Operators that foreach implementations also call for each tensor, without launching a kernel.
bool isBookkeeping(std::string_view op)
{
    return op == "aten::result_type" || op == "aten::empty";
}

OptimizerUse optimizerUse(const OpCosts& costs)
{
    OptimizerUse use;
    for (const OpCost& op : costs.ops) {
        if (op.phase != phase::kOptimizer)
            continue;
        if (isBookkeeping(op.name))
            continue;
        (isOverMany(op.name) ? use.manyOps : use.ops) += op.countPerStep;
        if (!isOverMany(op.name) && use.longest.size() < kMostEvidence)
            use.longest.push_back(op.longest);
    }
    return use;
}

/// The same for a trace without steps, per optimizer call. No value if the trace does not mark when the optimizer runs.
std::optional<OptimizerUse> optimizerUseWithoutSteps(const RuleContext& c)
{
    const Intervals passes = hostInPhases(c, {phase::kOptimizer});
    if (passes.empty())
        return std::nullopt;
    const Phases phases(c.trace);
    std::map<StringId, std::size_t> calls;
    std::map<StringId, Slice> longest;
    for (const Slice& op : c.trace.ofKind(ActivityKind::CpuOp))
        if (beginsWithin(op, passes) && phases.of(op).empty() && !isBookkeeping(c.trace.name(op))) {
            ++calls[op.name];
            Slice& known = longest.try_emplace(op.name, op).first->second;
            if (op.duration > known.duration)
                known = op;
        }
    OptimizerUse use;
    for (const auto& [name, count] : calls) {
        const bool many = isOverMany(c.trace.string(name));
        (many ? use.manyOps : use.ops) += static_cast<double>(count) / static_cast<double>(passes.size());
        if (!many && use.longest.size() < kMostEvidence)
            use.longest.push_back(longest[name].id);
    }
    return use;
}

Advice finding(const RuleContext& c, const OptimizerUse& use, double share, bool launchesKnown)
{
    const std::initializer_list<MessageParameter> parameters = {{"ops", use.ops, countText(use.ops)},
                                                                {"share", share, shareText(share)}};
    Advice advice = fires(
        c.facts.steps.empty()
            ? message<"optimizer.fused.loops_without_steps",
                      "The optimizer loops over tensors (not foreach or fused): {ops} operators per call and {share} "
                      "of the recorded time. The trace has no steps, so this is not per step.">(parameters)
        : launchesKnown
            ? message<"optimizer.fused.loops",
                      "The optimizer loops over tensors (not foreach or fused): {ops} operators "
                      "and {share} of the step.">(parameters)
            : message<"optimizer.fused.loops_while_idle",
                      "The optimizer loops over tensors (not foreach or fused): {ops} operators per step. The device "
                      "idles {share} of the step during these operators; the kernels they launched are not recorded.">(
                  parameters));
    advice.timeShare = share;
    advice.whyNoPrediction = message<"prediction.other_kernels",
                                     "The change runs other kernels, whose times are not in this trace: measure it.">();
    advice.caveats = {
        message<"optimizer.fused.foreach_memory",
                "A foreach optimizer needs temporary memory of the same size as the weights; a fused one does not.">()};
    setToggleToFirst(advice, c, "optimizer.implementation", {"fused", "foreach"});
    addEvidence(advice, c.trace, use.longest);
    return advice;
}

/// The operators of the optimizer, or the reason why they are unknown.
std::variant<OptimizerUse, Advice> recordedUse(const RuleContext& c)
{
    const bool withoutSteps = c.facts.steps.empty() && !c.config && hasDeviceWork(c.trace);
    if (!withoutSteps)
        if (auto advice = withoutSteadySteps(c))
            return *advice;
    if (withoutSteps ? !hasKind(c.trace, ActivityKind::CpuOp) : c.facts.ops.stepsWithOps == 0)
        return cannotTell(message<"ops.not_recorded", "Operators were not recorded.">(), Need::Operators);
    const auto use = withoutSteps ? optimizerUseWithoutSteps(c)
                     : c.facts.statistics.steadyMeanParts.optimizer.count() > 0
                         ? std::optional(optimizerUse(c.facts.ops))
                         : std::nullopt;
    if (!use)
        return cannotTell(message<"optimizer.fused.phase_not_recorded",
                                  "The trace does not mark the optimizer's part of the step.">(),
                          Need::Program);
    return *use;
}

Advice check(const RuleContext& c)
{
    const auto configured = setting(c, "optimizer.implementation");
    if (configured && *configured != "for-loop")
        return silent(message<"optimizer.fused.on", "The optimizer is already foreach or fused.">());
    const auto recorded = recordedUse(c);
    if (const Advice* why = std::get_if<Advice>(&recorded))
        return *why;
    const OptimizerUse& use = std::get<OptimizerUse>(recorded);
    if (use.manyOps > 0)
        return silent(message<"optimizer.fused.operators",
                              "The optimizer is already foreach or fused ({ops} such operators per step).">(
            {{"ops", use.manyOps, countText(use.manyOps)}}));
    if (use.ops < kSingleTensorOps)
        return silent(message<"optimizer.fused.few_ops", "The optimizer runs only {ops} operators per step.">(
            {{"ops", use.ops, countText(use.ops)}}));
    if (!hasDeviceWork(c.trace) && !ranOnCpu(c))
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    bool launchesKnown = true;
    const double wholeUs = c.facts.steps.empty() ? toUs(c.facts.device.windowTime()) : c.facts.statistics.steadyMeanUs;
    double optimizerUs = toUs(c.facts.statistics.steadyMeanParts.optimizer);
    if (hasDeviceWork(c.trace)) {
        const auto us = deviceUsOfPhases(c, {phase::kOptimizer});
        launchesKnown = us.has_value();
        optimizerUs = std::min(us ? *us : idleUsInPhases(c, {phase::kOptimizer}), wholeUs);
    }
    const double share = wholeUs > 0 ? optimizerUs / wholeUs : 0;
    if (share < kMinimumShare && !launchesKnown)
        return cannotTell(message<"optimizer.fused.launches_not_recorded",
                                  "The trace does not record what the optimizer's {ops} operators per step launched, "
                                  "and no device waits for them.">({{"ops", use.ops, countText(use.ops)}}),
                          Need::KernelsAndHost);
    if (share < kMinimumShare)
        return silent(message<"optimizer.fused.small", "The optimizer takes only {share} of the step.">(
            {{"share", share, shareText(share)}}));
    return finding(c, use, share, launchesKnown);
}

} // namespace

Rule optimizer_fused()
{
    return {"optimizer.fused", "Optimizer loops over tensors (not foreach or fused)", check, Needs::Steps,
            TimePart::Launch | TimePart::Kernels};
}

} // namespace advisor::rules
