#include "advisor/experiment/experiment.h"

#include "advisor/batch_facts.h"
#include "advisor/cli/commands.h"
#include "advisor/cli/configured.h"
#include "advisor/cli/experiment_json.h"
#include "advisor/cli/interrupt.h"
#include "advisor/cli/interrupt_watch.h"
#include "advisor/cli/json_text.h"
#include "advisor/cli/open_trace.h"
#include "advisor/experiment/held_prediction.h"
#include "advisor/experiment/result_text.h"
#include "advisor/judged_by.h"
#include "advisor/numbers.h"
#include "advisor/rule.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace advisor::cli {

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

/// What the trace's advice promises for the changes; where it promises nothing, `err` is told why.
std::optional<Saving> predicted(const profiler::Trace& trace, const ExperimentPlan& plan, std::ostream& err)
{
    std::string why = "its advice has no such change";
    for (const RuleAdvice& row : advise(trace, &plan.baseline)) {
        const auto& toggle = row.advice.toggle;
        if (!toggle || !areSame(changesOf(*toggle, plan.baseline), plan.changes))
            continue;
        const auto& saving = row.advice.saving;
        if (!saving)
            why = row.advice.whyNoPrediction.text;
        else if ((saving->unit == SavingUnit::Bytes) != (plan.judgedBy == JudgedBy::Memory) ||
                 (saving->unit != SavingUnit::Bytes && measureOf(saving->unit) != plan.measure))
            why = "its advice is about something else than what is measured";
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
    // Whoever says what is to be timed wants it timed.
    plan.judgedBy = options.measure.empty() ? judgedBy(plan.changes) : JudgedBy::Time;
    plan.measure = !options.measure.empty()          ? options.measure
                   : plan.judgedBy == JudgedBy::Time ? measureOf(plan.changes)
                                                     : "steps";
    plan.budget = std::chrono::seconds(options.budgetSeconds);
    plan.horizon = std::chrono::seconds(options.horizonSeconds);
    plan.turn = std::chrono::milliseconds(options.turnMilliseconds);
    if (options.horizonSeconds > 0 && !isScreening(plan) && sameBatches(plan.changes))
        streams.err << "--horizon has no effect: this change is judged by "
                    << (plan.judgedBy == JudgedBy::Memory ? "memory" : "time") << ", not by the loss at equal time\n";
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

void tell(const ExperimentProgress& progress, std::ostream& err)
{
    err << progress.doing;
    if (const auto& saved = progress.savedLoss)
        err << fmt::format(" · loss lower by {:.3g} ({:.3g} to {:.3g})", saved->value, saved->low, saved->high);
    else if (progress.ratio)
        err << fmt::format(" · {:.3f} × ({:.3f} to {:.3f})", progress.ratio->value, progress.ratio->low,
                           progress.ratio->high);
    err << fmt::format(" · {:.0f} s spent, at most {:.0f} s left", progress.secondsSpent, progress.secondsLeft)
        << std::endl;
}

void printLosses(const LossAtEqualTime& losses, std::ostream& out)
{
    if (!losses.saved.isKnown())
        return;
    out << fmt::format("screening at equal time: {} loss {:.4g} against {:.4g} after {:.3g} s: lower by {:.3g} (95 % "
                       "interval {:.3g} to {:.3g}, {} seeds)\n",
                       losses.validation ? "validation" : "training", losses.b, losses.a, losses.seconds,
                       losses.saved.value, losses.saved.low, losses.saved.high, losses.seeds.size());
}

void printSaved(const ExperimentResult& result, std::ostream& out)
{
    const bool memory = result.plan.judgedBy == JudgedBy::Memory;
    if (!(memory ? result.savedBytes : result.savedUs).isKnown())
        return;
    out << fmt::format("saves {} of {}", measuredText(result),
                       memory ? bytesText(result.peakBytesA) + " that tensors held at once" : timeText(result.unitUsA));
    if (const auto predicted = predictedHere(result))
        out << "; predicted were " << predictedText(predicted);
    out << '\n';
}

void printNoise(const NoiseReport& noise, std::ostream& out)
{
    out << fmt::format("other programs used {:.2f} of {:.0f} cores during the turns", noise.turns.otherCores,
                       noise.cores);
    if (!noise.turns.others.empty() && noise.turns.others.front().cores >= kDisturbedShare)
        out << fmt::format(" ({} {:.2f})", noise.turns.others.front().name, noise.turns.others.front().cores);
    out << '\n';
}

void print(const ExperimentResult& result, std::ostream& out)
{
    if (result.plan.changes.empty())
        out << "The same against itself\n";
    for (const Toggle& change : result.plan.changes)
        out << fmt::format("{}: {} against {}\n", change.key, change.to, change.from);
    const Interval& ratio = result.samplesPerSecond;
    out << fmt::format("{}: {}\n", verdictName(result.verdict), result.whyText());
    if (ratio.isKnown())
        out << fmt::format("{:.0f} against {:.0f} samples/s: {:.3f} × (95 % interval {:.3f} to {:.3f}, {} pairs)\n",
                           result.samplesPerSecondB, result.samplesPerSecondA, ratio.value, ratio.low, ratio.high,
                           result.pairs.size());
    if (result.lossAtEqualTime)
        printLosses(*result.lossAtEqualTime, out);
    if (!isScreening(result.plan))
        printSaved(result, out);
    if (result.noise.cores > 0 && result.noise.turns.seconds > 0)
        printNoise(result.noise, out);
}

} // namespace

int experiment(const ExperimentOptions& options, const Streams& streams)
{
    const auto plan = planOf(options, streams);
    if (!plan)
        return plan.error();
    catchInterrupts();
    std::stop_source stop;
    const InterruptWatch watch(stop);
    bool begun = false;
    const auto follow = [&](const ExperimentProgress& progress) {
        // How long a step takes is not known yet; nor, for the loss, how long the training is.
        if (!std::exchange(begun, true) && !isScreening(*plan))
            streams.err << fmt::format("takes about {} s or more\n", expectedDuration(*plan, 0).count());
        tell(progress, streams.err);
    };
    const auto result = runExperiment(*plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return result.error().code == profiler::Error::Code::Cancelled ? kInterrupted : kBadInput;
    }
    if (options.json)
        streams.out << jsonText(toJson(*result)) << '\n';
    else
        print(*result, streams.out);
    return kDone;
}

} // namespace advisor::cli
