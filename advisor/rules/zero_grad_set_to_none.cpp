#include "advisor/chosen_work.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "zero_grad.set_to_none";
// Of the step. Chosen: half of the least effect that an experiment calls a gain (one percent), since the saving is the
// middle of a range; below, the change of what the optimizer does matters more.
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

// Bytes. Published: glibc takes blocks of 128 KiB and more from the system and gives them back when they are freed
// (mallopt(3), M_MMAP_THRESHOLD).
constexpr double kLargeBytes = 128.0 * 1024;
// µs: what filling so much takes at 10 GB/s, for traces without the operators' sizes. Measured: one core fills 4 to 29
// GB/s, for gradients of 4 and 120 kB (PyTorch 2.11).
constexpr double kLargeFillUs = 13;

// µs: a gradient that is taken over instead of added to is detached. Measured: 0.5 to 1.3 µs for gradients of 4 kB to
// 12 MB (PyTorch 2.11, one core).
constexpr double kDetachUs = 1.3;

struct Zeroing {
    double fillUs = 0, fills = 0; ///< a step, in the zero grad phase
    double accumulateUs = 0, additions = 0; ///< a step: in-place additions in backward
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
            found.additions += op.countPerStep;
            found.longest.push_back(op.longest);
        } else if (op.phase == phase::kBackward && doesAccumulate(op.name))
            found.aroundUs += op.selfUsPerStep;
    }
    return found;
}

/// By the size of what is filled, 4 bytes an element; where sizes are not recorded by the time that it takes.
bool isLarge(const Trace& trace, const Slice& fill)
{
    const auto inputs = listEntries(trace.string(fill.args.shapes));
    if (inputs.empty())
        return toUs(fill.duration) > kLargeFillUs;
    double bytes = 4;
    for (const std::string& size : listEntries(inputs.front()))
        bytes *= std::strtod(size.c_str(), nullptr);
    return bytes >= kLargeBytes;
}

/// There is a gradient as large in most steps: one long fill may be one that was held up.
bool fillsLargeGradients(const Case& c)
{
    std::int64_t large = 0;
    for (const SliceId fill : operatorsIn(c.trace, isSingleFill, phase::kZeroGrad))
        large += isLarge(c.trace, c.trace.slice(fill)) ? 1 : 0;
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
    // of the fills goes, and of each addition what detaching does not take; at most the whole phase and all that adds to
    // gradients.
    const double low = std::min(found.fillUs, phaseUs) / 2 +
                       std::max(0.0, found.accumulateUs - kDetachUs * found.additions);
    const double high = std::max(found.fillUs, phaseUs) + found.accumulateUs + found.aroundUs;
    const double mid = (low + high) / 2;
    if (mid < kWorthFixing * stepUs)
        return silent(message<"zero_grad.set_to_none.short",
                              "Filling gradients with zeros and adding to them takes about {time} of a step of {step}.">(
            {{"time", mid, timeText(mid)}, {"step", stepUs, timeText(stepUs)}}));
    Advice advice = fires(
        message<"zero_grad.set_to_none.fills",
                "Each step fills {gradients} gradients with zeros ({time}) and adds to them in backward ({additions}).">(
            {{"gradients", found.fills, countText(found.fills)},
             {"time", phaseUs, timeText(phaseUs)},
             {"additions", found.accumulateUs, timeText(found.accumulateUs)}}));
    advice.concerns = stepUs > 0 ? phaseUs / stepUs : 0;
    if (hasDeviceWork(c.trace))
        advice.saving = savingOnDevice(c);
    if (!ranOnCpu(c)) {
        if (!advice.saving)
            advice.whyNoPrediction =
                message<"zero_grad.set_to_none.behind_other_work",
                        "The fills run on the device behind other work; what they hold up is not recorded.">();
    } else if (fillsLargeGradients(c))
        advice.whyNoPrediction =
            message<"zero_grad.set_to_none.large",
                    "Without zeros, gradients as large as these are taken from the system anew in each step: what that "
                    "costs is not in the trace.">();
    else
        advice.saving = perStep(low, mid, high);
    setToggle(advice, c, kKey, "true");
    advice.caveats = {
        message<"zero_grad.set_to_none.skipped",
                "Optimizers skip parameters without a gradient: weight decay and momentum leave them alone.">(),
        message<"zero_grad.set_to_none.read", "Code that reads .grad before the first backward pass finds None.">()};
    addEvidence(advice, c.trace, found.longest);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, zeroPhases(c.trace));
    return advice;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::setToNone])
        return silent(message<"zero_grad.set_to_none.on", "Gradients are set to none already.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const Zeroing found = zeroing(c.facts.ops);
    const double phaseUs = static_cast<double>(c.facts.statistics.steadyMeanParts.zeroGrad.count()) / 1000.0;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell(
            message<"zero_grad.set_to_none.no_ops", "The trace has no operators: what zeroing costs is not known.">());
    if (found.fills == 0)
        return c.config ? cannotTell(message<"zero_grad.set_to_none.no_fills",
                                             "The trace shows no fills in the \"zero grad\" phase.">())
                        : silent(message<"zero_grad.set_to_none.none", "No step fills gradients with zeros.">());
    return verdict(c, found, phaseUs);
}

} // namespace

Rule zero_grad_set_to_none()
{
    return {kKey, "zero_grad fills gradients with zeros", check, Needs::Steps, kHostWork};
}

} // namespace advisor::rules
