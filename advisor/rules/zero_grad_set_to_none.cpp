#include "advisor/chosen_work.h"
#include "advisor/numbers.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "zero_grad.set_to_none";
// Below this share of the step, skipping parameters without a gradient changes more than it wins.
constexpr double kWorthFixing = 0.005;

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

// µs: what filling 128 KiB takes. What is larger the C library gives back to the system when it is freed.
constexpr double kLargeFillUs = 13;

// Of an addition into a gradient: a gradient that is taken over instead is detached, which takes about the rest.
constexpr double kAdditionSaved = 0.75;

struct Zeroing {
    double fillUs = 0, fills = 0; ///< a step, in the zero grad phase
    double accumulateUs = 0;      ///< a step: in-place additions in backward
    double aroundUs = 0;          ///< a step: what does these additions, without them
    std::vector<SliceId> longest;
};

Zeroing zeroing(const OpCosts& costs)
{
    Zeroing found;
    for (const OpCost& op : costs.ops) {
        if (op.phase == phase::kZeroGrad && isFill(op.name)) {
            found.fillUs += op.selfUsPerStep;
            // zero_ may call fill_: the outer ones are one for each parameter.
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

/// There is a gradient as large in most steps: one long fill may be one that was held up.
bool fillsLargeGradients(const Case& c)
{
    std::int64_t large = 0;
    for (const SliceId fill : operatorsIn(c.trace, isSingleFill, phase::kZeroGrad))
        large += toUs(c.trace.slice(fill).duration) > kLargeFillUs ? 1 : 0;
    return large >= c.facts.ops.stepsWithOps;
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

/// On a device: at least the fills go, with what they take of the host; at most all of the phase and every addition
/// into a gradient. What that holds up the replay tells; no value where the trace does not link enough for it.
std::optional<Saving> savingOnDevice(const Case& c)
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

Advice verdict(const Case& c, const Zeroing& found, double phaseUs)
{
    const double stepUs = c.facts.statistics.steadyMeanUs;
    // Instead of being filled, gradients are given back; instead of being added to, they are taken over. At least, half
    // of the fills goes, and most of each addition; at most the whole phase and all that adds to gradients.
    const double low = std::min(found.fillUs, phaseUs) / 2 + kAdditionSaved * found.accumulateUs;
    const double high = std::max(found.fillUs, phaseUs) + found.accumulateUs + found.aroundUs;
    const double mid = (low + high) / 2;
    if (mid < kWorthFixing * stepUs)
        return silent(
            fmt::format("Zeroing gradients and adding to them takes about {} of {}: not worth skipping parameters "
                        "without a gradient.",
                        timeText(mid), timeText(stepUs)));
    const std::string fills =
        fmt::format("Each step fills {} gradients with zeros ({})", countText(found.fills), timeText(phaseUs));
    Advice advice = fires(found.accumulateUs > 0
                              ? fmt::format("{} and adds to them in backward (up to {}) instead of writing them.",
                                            fills, timeText(found.accumulateUs))
                              : fills + ", to which backward then adds.");
    advice.concerns = stepUs > 0 ? phaseUs / stepUs : 0;
    if (hasDeviceWork(c.trace))
        advice.saving = savingOnDevice(c);
    if (!ranOnCpu(c)) {
        if (!advice.saving)
            advice.whyNoPrediction =
                "The fills run on the device behind other work; what they hold up is not recorded.";
    } else if (fillsLargeGradients(c))
        advice.whyNoPrediction =
            "Gradients as large as these are taken from the system anew in each step, page by page: "
            "what that costs is not in this trace.";
    else
        advice.saving = perStep(low, mid, high);
    setToggle(advice, c, kKey, "true");
    advice.caveats.emplace_back(
        "Optimizers skip parameters that have no gradient instead of updating them with a zero: weight "
        "decay and momentum leave them alone.");
    advice.caveats.emplace_back("Code that reads .grad() before the first backward finds none.");
    addEvidence(advice, c.trace, found.longest);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, zeroPhases(c.trace));
    return advice;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::setToNone])
        return silent("Gradients are set to none already.");
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const Zeroing found = zeroing(c.facts.ops);
    const double phaseUs = static_cast<double>(c.facts.statistics.steadyMeanParts.zeroGrad.count()) / 1000.0;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell("Operators were not recorded: what zeroing costs and what backward adds is not known.");
    if (found.fills == 0)
        return c.config ? cannotTell("The trace shows no fills in the \"zero grad\" phase.")
                        : silent("No step fills gradients with zeros.");
    return verdict(c, found, phaseUs);
}

} // namespace

Rule zero_grad_set_to_none()
{
    return {kKey, "Gradients are zeroed instead of dropped", check, Needs::Steps, kHostWork};
}

} // namespace advisor::rules
