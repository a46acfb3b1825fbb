#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "zero_grad.set_to_none";
// Minimum share of the step, for the upper bound of the saving. Chosen: the smallest effect that an experiment reports
// as a gain (1 %).
constexpr double kMinimumShare = 0.01;

bool isSingleFill(std::string_view op)
{
    return op == "aten::zero_" || op == "aten::fill_";
}

bool isFill(std::string_view op)
{
    return isSingleFill(op) || op == "aten::_foreach_zero_";
}

bool isAccumulate(std::string_view op)
{
    return op == "aten::add_" || op == "aten::_foreach_add_";
}

bool doesAccumulate(std::string_view op)
{
    return op == "torch::autograd::AccumulateGrad" || op == "AccumulateGrad";
}

struct Zeroing {
    double fillUs = 0, fills = 0; ///< per step, in the zero grad phase
    double accumulateUs = 0;      ///< per step: in-place additions in the backward pass
    double aroundUs = 0;          ///< per step: self time of the operators that do these additions
    std::vector<SliceId> longest;
};

Zeroing zeroing(const OpCosts& costs)
{
    Zeroing found;
    for (const OpCost& op : costs.ops) {
        if (op.phase == phase::kZeroGrad && isFill(op.name)) {
            found.fillUs += op.selfUsPerStep;
            // zero_ may call fill_; the outer operators run once per parameter.
            found.fills = std::max(found.fills, op.countPerStep);
            found.longest.push_back(op.longest);
        } else if (op.phase == phase::kBackward && isAccumulate(op.name)) {
            found.accumulateUs += op.selfUsPerStep;
            found.longest.push_back(op.longest);
        } else if (op.phase == phase::kBackward && doesAccumulate(op.name))
            found.aroundUs += op.selfUsPerStep;
    }
    return found;
}

std::vector<SliceId> zeroPhases(const Trace& trace)
{
    std::vector<Slice> phases = trace.ofKind(ActivityKind::Phase);
    std::erase_if(phases, [&](const Slice& slice) { return trace.name(slice) != phase::kZeroGrad; });
    std::stable_sort(phases.begin(), phases.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    std::vector<SliceId> ids;
    for (const Slice& slice : phases)
        ids.push_back(slice.id);
    return ids;
}

/// On a device. Lower bound: the fills disappear, with their host time. Upper bound: the whole phase and every addition
/// to a gradient disappear. The replay determines what they delay; no value if the trace does not link enough of them.
std::optional<Saving> savingOnDevice(const RuleContext& c)
{
    const SliceSet fills = operatorsIn(c.trace, isFill, phase::kZeroGrad);
    const SliceSet additions = operatorsIn(c.trace, isAccumulate, phase::kBackward);
    SliceSet cut = fills;
    cut.insert(additions.begin(), additions.end());
    const ChosenWork filling(c.trace, fills), adding(c.trace, additions);
    const auto isFilling = [&](const ReplayWork& work) { return filling.onHost(work) || filling.onDevice(work); };
    return savingByReplay(
        c, cut, [&](const ReplayWork& work) { return ReplayChange{.factor = isFilling(work) ? 0.0 : 1.0}; },
        [&](const ReplayWork& work) {
            const bool zeroing = work.where == ReplayWork::Where::Host && work.phase == phase::kZeroGrad;
            return ReplayChange{
                .factor = zeroing || isFilling(work) || adding.onHost(work) || adding.onDevice(work) ? 0.0 : 1.0};
        });
}

Advice verdict(const RuleContext& c, const Zeroing& found, double phaseUs)
{
    const double stepUs = c.facts.statistics.steadyMeanUs;
    // With set_to_none, gradients are freed instead of filled, and new gradients are stored instead of added. Upper
    // bound: the whole phase and all additions to gradients disappear.
    const double most = std::max(found.fillUs, phaseUs) + found.accumulateUs + found.aroundUs;
    if (most < kMinimumShare * stepUs)
        return silent(
            message<"zero_grad.set_to_none.short",
                    "Filling gradients with zeros and adding to them takes at most {time} of a step of {step}.">(
                {{"time", most, timeText(most)}, {"step", stepUs, timeText(stepUs)}}));
    const MessageParameter gradients{"gradients", found.fills, countText(found.fills)},
        time{"time", phaseUs, timeText(phaseUs)};
    // The additions may not be recorded as operators of their own.
    Advice advice = fires(
        found.accumulateUs > 0
            ? message<"zero_grad.set_to_none.fills",
                      "Each step fills {gradients} gradients with zeros ({time}) and adds "
                      "to them in backward ({additions}).">(
                  {gradients, time, {"additions", found.accumulateUs, timeText(found.accumulateUs)}})
            : message<"zero_grad.set_to_none.fills_only", "Each step fills {gradients} gradients with zeros ({time}).">(
                  {gradients, time}));
    advice.timeShare = stepUs > 0 ? phaseUs / stepUs : 0;
    if (hasDeviceWork(c.trace))
        advice.saving = savingOnDevice(c);
    if (!ranOnCpu(c)) {
        if (!advice.saving)
            advice.whyNoPrediction = message<
                "zero_grad.set_to_none.behind_other_work",
                "The fills run on the device behind other work; the trace does not show how much they delay it.">();
    } else
        advice.saving = upperBound(SavingUnit::UsPerStep, most);
    setToggle(advice, c, kKey, "true");
    advice.caveats = {
        message<"zero_grad.set_to_none.skipped",
                "Optimizers skip parameters without a gradient: weight decay and momentum do not change them.">(),
        message<"zero_grad.set_to_none.read", "Code that reads .grad before the first backward pass gets None.">()};
    if (ranOnCpu(c))
        advice.caveats.push_back(message<"zero_grad.set_to_none.allocation",
                                         "With set_to_none, gradients are allocated again in each step: large ones "
                                         "come from the operating system and can take as long as filling them.">());
    addEvidence(advice, c.trace, found.longest);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, zeroPhases(c.trace));
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::setToNone])
        return silent(message<"zero_grad.set_to_none.on", "Gradients are already set to None.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const Zeroing found = zeroing(c.facts.ops);
    const double phaseUs = static_cast<double>(c.facts.statistics.steadyMeanParts.zeroGrad.count()) / 1000.0;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell(
            message<"zero_grad.set_to_none.no_ops", "The trace has no operators: the cost of zero_grad is unknown.">(),
            Need::Operators);
    if (found.fills == 0)
        return c.config ? cannotTell(message<"zero_grad.set_to_none.no_fills",
                                             "The trace shows no fills in the \"zero grad\" phase.">(),
                                     Need::Operators)
                        : silent(message<"zero_grad.set_to_none.none", "No step fills gradients with zeros.">());
    return verdict(c, found, phaseUs);
}

} // namespace

Rule zero_grad_set_to_none()
{
    return proposing("true", {kKey, "zero_grad fills gradients with zeros", check, Needs::Steps, kHostWork});
}

} // namespace advisor::rules
