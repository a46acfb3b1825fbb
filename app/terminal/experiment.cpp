#include "advisor/experiment/experiment.h"

#include "advisor/evidence/batch_facts.h"
#include "advisor/objective.h"
#include "advisor/rule.h"
#include "app/terminal/commands.h"
#include "app/terminal/configured.h"
#include "app/terminal/experiment_json.h"
#include "app/terminal/experiment_text.h"
#include "app/terminal/interrupt.h"
#include "app/terminal/interrupt_watch.h"
#include "app/terminal/json_text.h"
#include "app/terminal/open_trace.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace app::terminal {

using namespace advisor;

namespace {

std::string_view measureOf(SavingUnit unit)
{
    return unit == SavingUnit::UsPerEpoch ? "epoch" : unit == SavingUnit::UsPerValidation ? "validation" : "steps";
}

bool areSame(const std::vector<Toggle>& one, const std::vector<Toggle>& other)
{
    return std::is_permutation(one.begin(), one.end(), other.begin(), other.end(),
                               [](const Toggle& a, const Toggle& b) { return a.key == b.key && a.to == b.to; });
}

/// The saving that the trace's advice predicts for the changes; if it predicts none, the reason is printed to `err`.
std::optional<Saving> predicted(const profiler::Trace& trace, const ExperimentPlan& plan, std::ostream& err)
{
    std::string why = "its advice contains no such change";
    for (const RuleAdvice& row : advise(trace, &plan.baseline)) {
        const auto& toggle = row.advice.toggle;
        if (!toggle || !areSame(changesOf(*toggle, plan.baseline), plan.changes))
            continue;
        const auto& saving = row.advice.saving;
        if (!saving)
            why = row.advice.whyNoPrediction.text;
        else if ((saving->unit == SavingUnit::Bytes) != (plan.objective == Objective::Memory) ||
                 (saving->unit != SavingUnit::Bytes && measureOf(saving->unit) != plan.measure))
            why = "its advice is about another quantity than the one measured";
        else
            return saving;
    }
    err << "No prediction from the trace: " << why << '\n';
    return std::nullopt;
}

tl::expected<ExperimentPlan, int> planOf(const ExperimentOptions& options, const Streams& streams)
{
    auto baseline = loadConfiguration(options.config, streams);
    if (!baseline)
        return tl::unexpected(baseline.error());
    const auto changed = withAssignments(*baseline, options.assignments, streams);
    if (!changed)
        return tl::unexpected(changed.error());
    ExperimentPlan plan;
    plan.baseline = *baseline;
    for (const config::Difference& difference : config::difference(*baseline, *changed))
        plan.changes.push_back({difference.key, difference.a, difference.b});
    // An explicit --measure always selects time as the objective.
    plan.objective = options.measure.empty() ? objectiveOf(plan.changes) : Objective::Time;
    plan.measure = !options.measure.empty()            ? options.measure
                   : plan.objective == Objective::Time ? measureOf(plan.changes)
                                                       : "steps";
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.horizon = std::chrono::seconds(options.horizonSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    if (options.horizonSeconds > 0 && !isScreening(plan) && sameBatches(plan.changes))
        streams.err << "--horizon has no effect: the objective of this change is "
                    << (plan.objective == Objective::Memory ? "memory" : "time") << ", not by the loss at equal time\n";
    if (!options.trace.empty()) {
        const auto trace = openTrace(options.trace);
        if (!trace) {
            streams.err << trace.error().message() << '\n';
            return tl::unexpected(kBadInput);
        }
        plan.predicted = predicted(**trace, plan, streams.err);
    }
    return plan;
}

} // namespace

int experiment(const ExperimentOptions& options, const Streams& streams)
{
    if (!options.command.empty())
        return programExperiment(options, streams);
    const auto plan = planOf(options, streams);
    if (!plan)
        return plan.error();
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    bool begun = false;
    const auto follow = [&](const ExperimentProgress& progress) {
        // The step time is not known yet, and for the loss, the length of the training run.
        if (!std::exchange(begun, true) && !isScreening(*plan))
            streams.err << fmt::format("takes about {} s or more\n", expectedDuration(*plan, 0).count());
        printProgress(progress, streams.err);
    };
    const auto result = runExperiment(*plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return result.error().code == profiler::Error::Code::Cancelled ? kInterrupted : kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*result)) << '\n';
    else {
        if (result->plan.changes.empty())
            streams.out << "A/A experiment (no change)\n";
        printResult(*result, streams.out);
    }
    return kDone;
}

} // namespace app::terminal
