#include "advisor/evidence/program_values.h"
#include "advisor/gpu_facts.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/phase_cost.h"
#include "advisor/prediction/saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "batch.size";
using namespace profiler;
using namespace profiler::analysis;

// Least share of a step that does not grow with the batch; doubling the batch saves half of it per sample. Chosen: 15
// %. Larger tensors fit into caches less well, so only about half of the 7.5 % may remain, which an experiment still
// shows.
constexpr double kWorthFixing = 0.15;
// Of the memory. A batch twice as large takes at most twice the memory; chosen: a tenth of the memory is left for the
// allocator's fragments and for libraries.
constexpr double kRoom = 0.45;

/// What of a step takes as long however many samples the batch has, in µs.
struct FixedCosts {
    double stepUs = 0;    ///< a steady step, its wait for data left out
    double weightsUs = 0; ///< going over the weights: optimizer and zeroing
    double knownUs = 0;   ///< that, and the calls of operators that are all overhead
    double mostUs = 0;    ///< the step without the work that is sure to grow with the batch; 0: not known
};

/// µs of an operator's mean call: below, it is all overhead. Measured: operators on 4 kB take 1.1 µs in place and 4.2
/// to 5.2 µs with autograd and an output (PyTorch 2.11, one core).
constexpr double kOverheadUs = 5;
/// µs of overhead of a call at most. Chosen: four times what was measured, for slower processors.
constexpr double kMostOverheadUs = 20;

bool isOverWeights(std::string_view phase)
{
    return phase == phase::kOptimizer || phase == phase::kZeroGrad;
}

/// Whether an operator may take as long for a larger batch: a product with weights takes the time of reading them as
/// long as the batch is small, and of gathering and writing their gradient likewise.
bool mayReadWeights(std::string_view op)
{
    constexpr std::array<std::string_view, 10> kNames = {"mm",       "addmm",  "linear", "matmul",    "bmm",
                                                         "baddbmm",  "einsum", "lstm",   "embedding", "conv"};
    return std::ranges::any_of(kNames, [&](std::string_view name) { return op.find(name) != op.npos; });
}

/// Adds the overhead of a processor's operators, by those steps in which they were recorded.
void addOverhead(const RuleContext& c, FixedCosts& costs)
{
    double recordedUs = 0, passesUs = 0, count = 0;
    for (const Step& step : c.facts.steps)
        if (isSteady(step) && step.opsRecorded) {
            recordedUs += toUs(step.range.duration() - step.parts.dataWait);
            passesUs += toUs(step.parts.forward + step.parts.backward);
            ++count;
        }
    if (count == 0 || recordedUs <= 0 || hasDeviceWork(c.trace))
        return;
    double inPassesUs = 0, calls = 0, overheadUs = 0, workUs = 0; // a step
    for (const OpCost& op : c.facts.ops.ops) {
        if (op.phase == phase::kValidation || isOverWeights(op.phase))
            continue;
        if (op.phase == phase::kForward || op.phase == phase::kBackward) {
            inPassesUs += op.selfUsPerStep;
            calls += op.countPerStep;
        }
        if (op.selfUsPerStep <= kOverheadUs * op.countPerStep)
            overheadUs += op.selfUsPerStep;
        if (!mayReadWeights(op.name))
            workUs += std::max(0.0, op.selfUsPerStep - kMostOverheadUs * op.countPerStep);
    }
    // What the passes take beside their operators is going from one to the next, unless it is too much for that.
    const double betweenUs = std::clamp(passesUs / count - inPassesUs, 0.0, kOverheadUs * calls);
    const double scale = costs.stepUs / (recordedUs / count); // recording them takes time as well
    costs.knownUs = costs.weightsUs + std::min(costs.stepUs - costs.weightsUs, scale * (betweenUs + overheadUs));
    // Several threads may share the work of a larger batch better; one thread takes twice as long for twice the work.
    const double growsUs = metadata(c.trace, "host.threads") == "1" ? scale * workUs : 0;
    costs.mostUs = std::max(costs.knownUs, costs.stepUs - growsUs);
}

FixedCosts fixedCosts(const RuleContext& c)
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
    costs.knownUs = costs.weightsUs;
    addOverhead(c, costs);
    return costs;
}

Advice finding(const RuleContext& c, const FixedCosts& costs)
{
    const auto share = [&](double us) { return shareText(us / costs.stepUs); };
    const std::initializer_list<MessageParameter> parameters = {
        {"weights", costs.weightsUs / costs.stepUs, share(costs.weightsUs)},
        {"overhead", (costs.knownUs - costs.weightsUs) / costs.stepUs, share(costs.knownUs - costs.weightsUs)}};
    Advice advice = fires(
        costs.mostUs > 0
            ? message<"batch.size.overhead",
                      "{weights} of each step is spent on the weights (optimizer and zeroing) and at least "
                      "{overhead} on the overhead of operators, whatever the batch size.">(parameters)
            : message<"batch.size.weights",
                      "{weights} of each step is spent on the weights (optimizer and zeroing), whatever the batch "
                      "size.">(parameters));
    advice.timeShare = costs.knownUs / costs.stepUs;
    if (hasDeviceWork(c.trace))
        advice.whyNoPrediction =
            message<"batch.size.no_kernels", "How fast larger kernels are is not in the trace: measure it.">();
    else if (costs.mostUs == 0)
        advice.whyNoPrediction =
            message<"batch.size.no_ops", "The trace has no operators: their overhead is not known.">();
    else
        // With twice the batch, each sample takes half of what does not grow with it.
        advice.saving = upperBound(SavingUnit::UsPerStep, costs.mostUs / 2);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    FixedCosts costs = fixedCosts(c);
    if (costs.weightsUs == 0)
        return cannotTell(
            message<"batch.size.no_optimizer", "The trace does not mark what the optimizer takes of a step.">(),
            Need::Program);
    if (hasDeviceWork(c.trace)) {
        const auto us = deviceUsOfPhases(c, {phase::kOptimizer, phase::kZeroGrad});
        if (!us)
            return cannotTell(
                message<"batch.size.no_launches", "The trace does not record what the optimizer launched.">(),
                Need::KernelsAndHost);
        costs.weightsUs = costs.knownUs = std::min(*us, costs.stepUs);
    } else if (!ranOnCpu(c)) {
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    }
    if (costs.knownUs < kWorthFixing * costs.stepUs)
        return silent(message<"batch.size.small", "Only {share} of a step does not grow with the batch.">(
            {{"share", costs.knownUs / costs.stepUs, shareText(costs.knownUs / costs.stepUs)}}));
    const auto use = memoryUse(c);
    if (use && use->share() > kRoom)
        return silent(message<"batch.size.full", "Memory was {share} full: a batch twice as large would hardly fit.">(
            {{"share", use->share(), shareText(use->share())}}));
    if (!use && hasDeviceWork(c.trace))
        return memoryNotRecorded(c);
    Advice advice = finding(c, costs);
    advice.caveats = {
        message<"batch.size.memory", "Memory limits the batch: batch.find_max searches for the largest.">(),
        message<"batch.size.rate", "Double the learning rate with the batch and warm it up: see optimizer.lr_scaling. "
                                   "Very large batches may generalise worse.">()};
    const auto size = programValues(c.trace, c.config).batchSize;
    setToggle(advice, c, kKey, size ? config::toText(2 * *size) : "");
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
