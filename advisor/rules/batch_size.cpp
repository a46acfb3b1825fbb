#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/memory_use.h"
#include "advisor/evidence/program_values.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "batch.size";
using namespace profiler;
using namespace profiler::analysis;

// Minimum share of a step that does not grow with the batch; doubling the batch saves half of it per sample. Chosen: 15
// %. Larger tensors use caches less well, so only about half of the 7.5 % may remain, which an experiment can still
// measure.
constexpr double kMinimumShare = 0.15;
// Maximum share of the memory in use. A batch twice as large takes at most twice the memory; chosen: a tenth of the
// memory is left for allocator fragmentation and for libraries.
constexpr double kRoom = 0.45;

/// The parts of a step that take the same time for any batch size, in µs.
struct FixedCosts {
    double stepUs = 0;    ///< a steady step without its wait for data
    double weightsUs = 0; ///< the passes over the weights: optimizer and zero_grad
    double knownUs = 0;   ///< weightsUs, plus the operator calls that consist of overhead only
    double waitUs = 0;    ///< the wait for data, which a larger batch may also shorten per sample
    double mostUs = 0;    ///< the step without the work that certainly grows with the batch; 0: unknown
};

/// An operator whose mean call is shorter than this many µs consists of overhead only. Measured: operators on 4 kB take
/// 1.1 µs in place and 4.2 to 5.2 µs with autograd and an output (PyTorch 2.11, one core).
constexpr double kOverheadUs = 5;
/// Maximum overhead of a call in µs. Chosen: four times the measured value, for slower processors.
constexpr double kMostOverheadUs = 20;

bool isOverWeights(std::string_view phase)
{
    return phase == phase::kOptimizer || phase == phase::kZeroGrad;
}

/// Whether the time of an operator may be independent of the batch size: for small batches, a matmul with weights takes
/// the time to read the weights, and its gradient the time to write them.
bool mayReadWeights(std::string_view op)
{
    constexpr std::array<std::string_view, 10> kNames = {"mm",      "addmm",  "linear", "matmul",    "bmm",
                                                         "baddbmm", "einsum", "lstm",   "embedding", "conv"};
    return std::ranges::any_of(kNames, [&](std::string_view name) { return op.find(name) != op.npos; });
}

/// Adds the overhead of CPU operators, measured in the steps whose operators were recorded.
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
    double inPassesUs = 0, calls = 0, overheadUs = 0, workUs = 0; // per step
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
    // The time of the passes outside their operators is the overhead between operators, up to a limit.
    const double betweenUs = std::clamp(passesUs / count - inPassesUs, 0.0, kOverheadUs * calls);
    const double scale = costs.stepUs / (recordedUs / count); // recording operators takes time as well
    costs.knownUs = costs.weightsUs + std::min(costs.stepUs - costs.weightsUs, scale * (betweenUs + overheadUs));
    // Several threads may use a larger batch more efficiently; one thread takes twice as long for twice the work.
    const double growsUs = metadata(c.trace, "host.threads") == "1" ? scale * workUs : 0;
    costs.mostUs = std::max(costs.knownUs, costs.stepUs - growsUs);
}

FixedCosts fixedCosts(const RuleContext& c)
{
    std::vector<double> steps, weights, waits;
    const auto take = [&](bool recorded) {
        for (const Step& step : c.facts.steps)
            if (isSteady(step) && step.opsRecorded == recorded) {
                steps.push_back(toUs(step.range.duration() - step.parts.dataWait));
                waits.push_back(toUs(step.parts.dataWait));
                weights.push_back(toUs(step.parts.optimizer + step.parts.zeroGrad));
            }
    };
    take(false);
    if (steps.empty())
        take(true);
    FixedCosts costs{.stepUs = mean(steps), .weightsUs = mean(weights), .waitUs = mean(waits)};
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
            ? message<"batch.size.overhead", "{weights} of each step is spent on the weights (optimizer and zero_grad) "
                                             "and at least {overhead} on operator overhead, whatever the batch size.">(
                  parameters)
            : message<
                  "batch.size.weights",
                  "{weights} of each step is spent on the weights (optimizer and zero_grad), whatever the batch size.">(
                  parameters));
    // With twice the batch size, each sample pays half of the fixed cost.
    advice.timeShare = costs.knownUs / costs.stepUs / 2;
    if (hasDeviceWork(c.trace))
        advice.whyNoPrediction =
            message<"batch.size.no_kernels", "The trace does not show how fast larger kernels are: measure it.">();
    else if (costs.mostUs == 0)
        advice.whyNoPrediction =
            message<"batch.size.no_ops", "The trace contains no operators: their overhead is unknown.">();
    else
        advice.saving = upperBound(SavingUnit::UsPerStep, (costs.mostUs + costs.waitUs) / 2);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    FixedCosts costs = fixedCosts(c);
    if (costs.weightsUs == 0)
        return cannotTell(
            message<"batch.size.no_optimizer", "The trace does not mark the optimizer's part of the step.">(),
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
    if (costs.knownUs < kMinimumShare * costs.stepUs)
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
        message<"batch.size.rate", "Double the learning rate with the batch size and use a warm-up: see "
                                   "optimizer.lr_scaling. Very large batches may generalize worse.">()};
    const auto size = c.config ? programValues(*c.config).batchSize : c.recordedValues().batchSize;
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
    return {kKey,       "Small batches pay per-step costs often", check,
            Needs::Run, TimePart::Launch | TimePart::Kernels,     true};
}

} // namespace advisor::rules
