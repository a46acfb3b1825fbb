#include "advisor/experiment/experiment.h"

#include "advisor/cli/commands.h"
#include "advisor/cli/configured.h"
#include "advisor/cli/experiment_json.h"
#include "advisor/cli/interrupt.h"
#include "advisor/cli/interrupt_watch.h"
#include "advisor/cli/open_trace.h"
#include "advisor/judged_by.h"
#include "advisor/numbers.h"
#include "advisor/rule.h"

#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace advisor::cli {

namespace {

/// Where a change acts, so that what is timed is what it changes.
std::string measureOf(const std::vector<Toggle>& changes)
{
    for (const Toggle& change : changes) {
        const std::string_view where = config::findKnob(change.key)->where;
        if (where == "validation")
            return "validation";
        if (where == "start of an epoch")
            return "epoch";
    }
    return "steps";
}

/// What the trace's advice promises for the only change.
std::optional<Saving> predicted(const profiler::Trace& trace, const config::TrainingConfig& baseline,
                                const std::vector<Toggle>& changes)
{
    if (changes.size() != 1)
        return std::nullopt;
    for (const RuleAdvice& row : advise(trace, &baseline))
        if (row.advice.toggle && row.advice.toggle->key == changes[0].key && row.advice.toggle->to == changes[0].to)
            return row.advice.saving;
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
    if (!options.trace.empty()) {
        const auto trace = openTrace(options.trace);
        if (!trace) {
            streams.err << trace.error().message() << '\n';
            return tl::unexpected(kBadInput);
        }
        plan.predicted = predicted(**trace, plan.baseline, plan.changes);
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

void printSavedTime(const ExperimentResult& result, std::ostream& out)
{
    out << fmt::format("saves {} ({} to {}) of {}", timeText(result.savedUs.value), timeText(result.savedUs.low),
                       timeText(result.savedUs.high), timeText(result.unitUsA));
    if (const auto& promised = result.plan.predicted)
        out << fmt::format("; predicted were {} to {}", timeText(promised->low), timeText(promised->high));
    out << '\n';
}

void printLosses(const LossAtEqualTime& losses, std::ostream& out)
{
    if (losses.seeds.empty())
        return;
    out << fmt::format("{} loss {:.4g} against {:.4g} after {:.3g} s: lower by {:.3g} (95 % interval {:.3g} to {:.3g}, "
                       "{} seeds)\n",
                       losses.validation ? "validation" : "training", losses.b, losses.a, losses.seconds,
                       losses.saved.value, losses.saved.low, losses.saved.high, losses.seeds.size());
}

void printSavedBytes(const ExperimentResult& result, std::ostream& out)
{
    const auto text = [](double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); };
    const Interval& saved = result.savedBytes;
    out << fmt::format("saves {} ({} to {}) of {}\n", text(saved.value), text(saved.low), text(saved.high),
                       text(static_cast<double>(result.peakBytesA)));
}

void print(const ExperimentResult& result, std::ostream& out)
{
    if (result.plan.changes.empty())
        out << "The same against itself\n";
    for (const Toggle& change : result.plan.changes)
        out << fmt::format("{}: {} against {}\n", change.key, change.to, change.from);
    const Interval& ratio = result.samplesPerSecond;
    out << fmt::format("{}: {}\n", verdictName(result.verdict), result.why);
    out << fmt::format("{:.0f} against {:.0f} samples/s: {:.3f} × (95 % interval {:.3f} to {:.3f}, {} pairs)\n",
                       result.samplesPerSecondB, result.samplesPerSecondA, ratio.value, ratio.low, ratio.high,
                       result.pairs.size());
    if (result.lossAtEqualTime)
        printLosses(*result.lossAtEqualTime, out);
    else if (result.plan.judgedBy == JudgedBy::Memory)
        printSavedBytes(result, out);
    else
        printSavedTime(result, out);
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
        if (!std::exchange(begun, true) && plan->judgedBy != JudgedBy::Convergence)
            streams.err << fmt::format("takes about {} s or more\n", expectedDuration(*plan, 0).count());
        tell(progress, streams.err);
    };
    const auto result = runExperiment(*plan, follow, stop.get_token());
    if (!result) {
        streams.err << result.error().message() << '\n';
        return kBadInput;
    }
    if (options.json)
        streams.out << toJson(*result).dump(2) << '\n';
    else
        print(*result, streams.out);
    return kDone;
}

} // namespace advisor::cli
