#include "advisor/experiment/experiment.h"

#include "advisor/experiment/driver.h"
#include "advisor/experiment/trainer_arm.h"
#include "advisor/experiment/trainer_process.h"

#include <algorithm>

namespace advisor {

using profiler::Error;
using profiler::Result;

namespace {

/// Keys of batch-size searches that the baseline requests but that are not measured: each arm would find its own batch
/// size, which fills the memory whatever the change does.
std::vector<std::string_view> searchesLeftOut(const ExperimentPlan& plan)
{
    std::vector<std::string_view> keys;
    for (const config::Knob& knob : config::knobs())
        if (knob.searchesBatch && plan.baseline.value(knob.key) == config::Value(true) &&
            std::none_of(plan.changes.begin(), plan.changes.end(),
                         [&](const Toggle& change) { return change.key == knob.key; }))
            keys.push_back(knob.key);
    return keys;
}

Result<std::array<config::TrainingConfig, 2>> armConfigurations(const ExperimentPlan& plan)
{
    std::array<config::TrainingConfig, 2> configs = {plan.baseline, plan.baseline};
    for (const std::string_view search : searchesLeftOut(plan))
        for (config::TrainingConfig& config : configs)
            static_cast<void>(config.set(search, "false"));
    for (const Toggle& change : plan.changes)
        if (const auto set = configs[1].set(change.key, change.to); !set)
            return tl::unexpected(configError(Error::Code::Invalid, set.error()));
    return configs;
}

std::string nameOf(const std::vector<Toggle>& changes)
{
    std::string name = "the change";
    for (const Toggle& change : changes)
        name += (&change == changes.data() ? " " : ", ") + change.key + "=" + change.to;
    return name;
}

/// A loss can only be compared with a loss of the same kind over the same samples.
Result<void> checkLosses(const std::vector<Toggle>& changes)
{
    for (const Toggle& change : changes)
        if (const config::Knob* knob = config::findKnob(change.key); knob && !knob->comparableLoss)
            return profiler::fail<"experiment.losses_differ",
                                  "Losses of different datasets or models cannot be compared">(
                Error::Code::Unsupported, change.key + "=" + change.to, "compare the metrics of both runs instead");
    return {};
}

Result<void> checkPlan(const ExperimentPlan& plan)
{
    if (plan.measure != "steps" && plan.measure != "epoch" && plan.measure != "validation")
        return profiler::fail<"experiment.unknown_measure", "Unknown measure">(Error::Code::Invalid, plan.measure,
                                                                               "measure steps, epoch or validation");
    if (isScreening(plan))
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

bool mayChangeLoss(const ExperimentPlan& plan)
{
    return plan.isChangeUnknown || mayChangeLoss(plan.changes);
}

bool isScreening(const ExperimentPlan& plan)
{
    return plan.objective == Objective::LossAtEqualTime;
}

std::string ExperimentResult::whyText() const
{
    std::string text = why.text;
    for (const profiler::Message& note : notes)
        text += ' ' + note.text;
    return text;
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
    TrainerArms arms(*program, std::move(*configs), {"the baseline", nameOf(plan.changes)});
    const auto monitor = systemMonitor();
    RunLimits limits;
    limits.stop = std::move(stop);
    if (plan.budget.count() > 0)
        limits.deadline = RunLimits::Clock::now() + plan.budget;
    auto result = driveExperiment({plan, arms, *monitor, progress, std::move(limits)});
    if (result && !searchesLeftOut(plan).empty())
        result->notes.push_back(
            profiler::message<"experiment.note.no_batch_search",
                              "Neither arm searched for the largest batch: both use the configured batch.size.">());
    return result;
}

} // namespace advisor
