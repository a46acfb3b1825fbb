#include "advisor/gpu_facts.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/phase_cost.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "batch.size";
using namespace profiler;
using namespace profiler::analysis;

// Of a step, in what does not grow with the batch: a doubling wins half of it.
constexpr double kWorthFixing = 0.15;
// Of the memory that there is.
constexpr double kRoom = 0.45;

/// What of a step takes as long however many samples the batch has, in µs.
struct FixedCosts {
    double stepUs = 0;            ///< a steady step, its wait for data left out
    double weightsUs = 0;         ///< going over the weights: optimizer and zeroing
    double lowUs = 0, highUs = 0; ///< that, and what operators cost besides their work; both equal: not recorded
    double quick = 1, slow = 1;   ///< steps of the 10th and the 90th percentile against the mean one
};

/// Of each operator's mean call: below the first it is all overhead, above the second it is none.
constexpr double kOverheadUs = 5, kWorkUs = 20;

bool isOverWeights(std::string_view phase)
{
    return phase == phase::kOptimizer || phase == phase::kZeroGrad;
}

/// The same with what the operators of a processor cost besides their work, by those steps in which they were recorded.
FixedCosts withOverhead(const Case& c, FixedCosts costs)
{
    double recordedUs = 0, passesUs = 0, count = 0;
    for (const Step& step : c.facts.steps)
        if (isSteady(step) && step.opsRecorded) {
            recordedUs += toUs(step.range.duration() - step.parts.dataWait);
            passesUs += toUs(step.parts.forward + step.parts.backward);
            ++count;
        }
    if (count == 0 || recordedUs <= 0 || hasDeviceWork(c.trace))
        return costs;
    double inPassesUs = 0, calls = 0, overheadUs = 0, workUs = 0; // a step
    for (const OpCost& op : c.facts.ops.ops) {
        if (op.phase == phase::kValidation || isOverWeights(op.phase))
            continue;
        if (op.phase == phase::kForward || op.phase == phase::kBackward) {
            inPassesUs += op.selfUsPerStep;
            calls += op.countPerStep;
        }
        const double callUs = op.countPerStep > 0 ? op.selfUsPerStep / op.countPerStep : 0;
        if (callUs <= kOverheadUs)
            overheadUs += op.selfUsPerStep;
        else if (callUs > kWorkUs)
            workUs += op.selfUsPerStep;
    }
    // What the passes take beside their operators is going from one to the next, unless it is too much for that.
    const double betweenUs = std::clamp(passesUs / count - inPassesUs, 0.0, kOverheadUs * calls);
    const double rest = costs.stepUs - costs.weightsUs;
    const double scale = costs.stepUs / (recordedUs / count); // recording them takes time as well
    costs.lowUs = costs.weightsUs + std::min(rest, scale * (betweenUs + overheadUs));
    costs.highUs = std::max(costs.lowUs, costs.stepUs - scale * workUs); // all but what surely works
    return costs;
}

FixedCosts fixedCosts(const Case& c)
{
    std::vector<double> steps, weights;
    const auto take = [&](bool recorded) {
        for (const Step& step : c.facts.steps)
            if (isSteady(step) && step.opsRecorded == recorded) {
                steps.push_back(toUs(step.range.duration() - step.parts.dataWait));
                weights.push_back(toUs(step.parts.optimizer + step.parts.zeroGrad));
            }
    };
    take(false);
    if (steps.empty())
        take(true);
    FixedCosts costs{.stepUs = mean(steps), .weightsUs = mean(weights)};
    costs.lowUs = costs.highUs = costs.weightsUs;
    if (costs.stepUs > 0) {
        costs.quick = std::min(1.0, percentile(steps, 0.1) / costs.stepUs);
        costs.slow = std::max(1.0, percentile(steps, 0.9) / costs.stepUs);
    }
    return withOverhead(c, costs);
}

Advice finding(const Case& c, const FixedCosts& costs)
{
    const auto share = [&](double us) { return shareText(us / costs.stepUs); };
    std::string reason =
        fmt::format("{} of each step goes over the weights (optimizer and zeroing), however many samples the batch has",
                    share(costs.weightsUs));
    if (costs.highUs > costs.weightsUs)
        reason += fmt::format("; at least {} more is what operators cost besides their work",
                              share(costs.lowUs - costs.weightsUs));
    Advice advice = fires(reason + ".");
    advice.concerns = costs.lowUs / costs.stepUs;
    // With twice the batch half of it goes, per sample; what larger tensors cost in cache is not in a trace.
    if (hasDeviceWork(c.trace))
        advice.whyNoPrediction = "How much faster larger kernels are is not in this trace: measure it.";
    else if (c.facts.ops.stepsWithOps == 0)
        advice.whyNoPrediction = "Operators were not recorded: what they cost besides their work is not known.";
    else
        advice.saving =
            perStep(costs.quick * costs.lowUs / 2, (costs.lowUs + costs.highUs) / 4, costs.slow * costs.highUs / 2);
    return advice;
}

Advice check(const Case& c)
{
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    FixedCosts costs = fixedCosts(c);
    if (costs.weightsUs == 0)
        return cannotTell("The trace does not mark what of a step the optimizer takes.");
    if (hasDeviceWork(c.trace)) {
        const auto us = deviceUsOfPhases(c, {phase::kOptimizer, phase::kZeroGrad});
        if (!us)
            return cannotTell("The trace does not record what the optimizer launched.");
        costs.weightsUs = costs.lowUs = costs.highUs = std::min(*us, costs.stepUs);
    } else if (!ranOnCpu(c)) {
        return cannotTell(deviceNotRecorded(c));
    }
    if (costs.lowUs < kWorthFixing * costs.stepUs)
        return silent(
            fmt::format("Only {} of a step does not grow with the batch.", shareText(costs.lowUs / costs.stepUs)));
    const auto use = memoryUse(c);
    if (use && use->share() > kRoom)
        return silent(
            fmt::format("Memory was {} full: a batch twice as large would hardly fit.", shareText(use->share())));
    if (!use && hasDeviceWork(c.trace))
        return cannotTell(memoryNotRecorded(c));
    Advice advice = finding(c, costs);
    advice.caveats = {"Until memory is out: batch.find_max searches for it.",
                      "Double the batch, double the rate, with a warm-up: see optimizer.lr_scaling. Very large batches "
                      "may generalise worse."};
    setToggle(advice, c, kKey, c.config ? config::toText(2 * (*c.config)[config::key::batchSize]) : "");
    std::vector<Slice> phases = c.trace.ofKind(ActivityKind::Phase);
    std::erase_if(phases, [&](const Slice& slice) { return c.trace.name(slice) != phase::kOptimizer; });
    for (const Slice& slice : phases)
        if (advice.evidence.size() < kMostEvidence)
            advice.evidence.push_back(evidenceOf(c.trace, slice.id));
    if (advice.evidence.empty())
        addSteps(advice, c);
    return advice;
}

} // namespace

Rule batch_size()
{
    return {kKey,       "Small batches pay the costs of a step often", check,
            Needs::Run, TimePart::Launch | TimePart::Kernels,          true};
}

} // namespace advisor::rules
