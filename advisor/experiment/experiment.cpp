#include "advisor/experiment/experiment.h"

#include "advisor/experiment/experiment_run.h"
#include "advisor/experiment/scratch_files.h"
#include "advisor/experiment/statistics.h"
#include "advisor/experiment/turn_order.h"
#include "advisor/experiment/warm_up.h"

#include <algorithm>
#include <cmath>

namespace advisor {

using profiler::Error;
using profiler::Result;

namespace {

/// Each arm would search for a batch of its own: one that fills the memory, whatever the change does to it.
bool leavesTheSearchOut(const ExperimentPlan& plan)
{
    return plan.baseline[config::key::findMax] &&
           std::none_of(plan.changes.begin(), plan.changes.end(),
                        [](const Toggle& change) { return change.key == config::key::findMax.name; });
}

Result<std::array<config::TrainingConfig, 2>> armConfigurations(const ExperimentPlan& plan)
{
    std::array<config::TrainingConfig, 2> configs = {plan.baseline, plan.baseline};
    if (leavesTheSearchOut(plan))
        for (config::TrainingConfig& config : configs)
            static_cast<void>(config.set(config::key::findMax.name, "false"));
    for (const Toggle& change : plan.changes)
        if (const auto set = configs[1].set(change.key, change.to); !set)
            return tl::unexpected(Error{Error::Code::Invalid, set.error().message(), {}, {}});
    return configs;
}

std::string nameOf(const std::vector<Toggle>& changes)
{
    std::string name = "the change";
    for (const Toggle& change : changes)
        name += (&change == changes.data() ? " " : ", ") + change.key + "=" + change.to;
    return name;
}

/// A loss is compared with a loss of the same kind, over the same samples.
Result<void> checkLosses(const std::vector<Toggle>& changes)
{
    for (const Toggle& change : changes)
        if (const config::Knob* knob = config::findKnob(change.key); knob && !knob->comparableLoss)
            return tl::unexpected(Error{Error::Code::Unsupported,
                                        "Losses of different data or models are no measure of each other",
                                        change.key + "=" + change.to, "compare both runs by their metric instead"});
    return {};
}

Result<void> checkPlan(const ExperimentPlan& plan)
{
    if (plan.measure != "steps" && plan.measure != "epoch" && plan.measure != "validation")
        return tl::unexpected(Error{Error::Code::Invalid, "There is no such thing to measure", plan.measure,
                                    "measure steps, epoch or validation"});
    if (plan.judgedBy == JudgedBy::Convergence)
        return checkLosses(plan.changes);
    return {};
}

} // namespace

std::string_view verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Pays:
        return "pays";
    case Verdict::DoesNotPay:
        return "does not pay";
    case Verdict::Costs:
        return "costs";
    case Verdict::Inconclusive:
        break;
    }
    return "inconclusive";
}

double estimatedSeconds(const ExperimentPlan& plan, double unitSeconds, std::size_t pairs)
{
    // Warming up takes about four chunks of a third of a second, or of a few steps when they are long.
    constexpr double kWarmUpUnits = 12, kWarmUpSeconds = 1.2;
    const bool steps = plan.measure == "steps";
    // What the change makes of these is not known: the baseline's count for both.
    const auto ahead = plan.baseline[config::key::workers] * plan.baseline[config::key::prefetchFactor] + 1;
    const double turn = unitSeconds > 0
                            ? unitSeconds * static_cast<double>(unitsPerTurn(plan.measure, unitSeconds, plan.turn) +
                                                                (steps ? ahead : 0))
                            : std::chrono::duration<double>(plan.turn).count();
    const double start = kStartSeconds + 2 * std::max(kWarmUpSeconds, unitSeconds * (steps ? kWarmUpUnits : 2));
    const auto n = static_cast<double>(pairs);
    return n * 2 * turn + std::ceil(n / static_cast<double>(kPairsPerStart)) * start;
}

double horizonSeconds(const ExperimentPlan& plan, double stepSeconds, double trainingSeconds, double overheadSeconds)
{
    // With fewer steps nothing is learnt yet that one could compare.
    constexpr double kFewestSteps = 20;
    double seconds = std::chrono::duration<double>(plan.horizon).count();
    if (seconds <= 0) {
        seconds = std::chrono::duration<double>(kHorizon).count();
        if (trainingSeconds > 0)
            seconds = std::min(seconds, trainingSeconds);
        // So that there is a second look within the budget.
        if (const auto budget = static_cast<double>(plan.budget.count()); budget > 0)
            seconds =
                std::min(seconds, (budget / static_cast<double>(kLooks[1] / kPairsPerStart) - overheadSeconds) / 2);
    }
    return std::max(seconds, kFewestSteps * stepSeconds);
}

std::chrono::seconds expectedDuration(const ExperimentPlan& plan, double stepUs, double validationUs)
{
    const double step = std::max(stepUs, 0.0) * 1e-6;
    // Most end at the first or the second look.
    double expected = plan.judgedBy == JudgedBy::Memory ? estimatedMemorySeconds(plan, step, 0)
                                                        : estimatedSeconds(plan, step, kLooks[1]);
    if (plan.judgedBy == JudgedBy::Convergence) {
        const double training = step * static_cast<double>(plan.baseline[config::key::steps]);
        // Both arms are validated at the end of a seed's time; once more, to plan it.
        const double validation = std::max(validationUs, 0.0) * 1e-6;
        const double overhead = kStartSeconds + 2 * validation;
        const double seed = 2 * horizonSeconds(plan, step, training, overhead) + overhead;
        expected = static_cast<double>(kLooks[1] / kPairsPerStart) * seed + kStartSeconds + validation;
    }
    const auto seconds = std::chrono::seconds(std::llround(expected));
    return plan.budget.count() > 0 ? std::min(seconds, plan.budget) : seconds;
}

Result<ExperimentResult> runExperiment(const ExperimentPlan& plan,
                                       const std::function<void(const ExperimentProgress&)>& progress,
                                       std::stop_token stop)
{
    if (const auto checked = checkPlan(plan); !checked)
        return tl::unexpected(checked.error());
    auto configs = armConfigurations(plan);
    if (!configs)
        return tl::unexpected(configs.error());
    ScratchFiles scratch;
    for (config::TrainingConfig& config : *configs)
        if (const auto moved = scratch.redirect(config); !moved)
            return tl::unexpected(moved.error());
    const auto program = plan.trainer.empty() ? findTrainer() : Result<std::filesystem::path>(plan.trainer);
    if (!program)
        return tl::unexpected(program.error());
    ExperimentRun run{plan, *program, std::move(*configs), {"the baseline", nameOf(plan.changes)}, progress, {}};
    run.bounds.stop = std::move(stop);
    if (plan.budget.count() > 0)
        run.bounds.deadline = run.begin + plan.budget;
    auto result = plan.judgedBy == JudgedBy::Memory        ? measureMemory(run)
                  : plan.judgedBy == JudgedBy::Convergence ? measureConvergence(run)
                                                           : measureThroughput(run);
    if (!result)
        return result;
    result->secondsSpent = run.secondsSpent();
    if (leavesTheSearchOut(plan))
        result->why += " Neither arm searched for the largest batch: batch.size is what the configuration says.";
    return result;
}

} // namespace advisor
