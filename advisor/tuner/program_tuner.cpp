#include "advisor/tuner/program_tuner.h"

#include "advisor/change/program_setup.h"
#include "advisor/evidence/program_values.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/knob_changes.h"
#include "advisor/tuner/tune_search.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace advisor {

using change::WantedChange;
using profiler::Error;
using profiler::message;
using profiler::Message;
using profiler::Result;

namespace {

constexpr std::string_view kBatchSize = config::key::batchSize.name;
constexpr std::string_view kRateScaling = config::key::lrScaling.name;
// Share of the time for a trial that both arms of one start train for their losses at equal time. Chosen: up to ten
// starts of two arms, and a third of the time for starting and warming up.
constexpr double kHorizonShare = 1.0 / 30;
// Share of the remaining time for a larger batch with the program's learning rate, whose loss may stay undecided to the
// end; the rest is for the same batch with a scaled learning rate.
constexpr double kShareForBatchAlone = 0.5;

std::int64_t numberOf(std::string_view text)
{
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

class ProgramTuning {
public:
    ProgramTuning(const ProgramTunePlan& plan, const std::function<void(const TuneProgress&)>& progress,
                  std::stop_token stop)
        : m_plan(plan), m_progress(progress), m_stop(std::move(stop)), m_patcher(plan.patcher)
    {
        if (m_patcher.python == change::PatcherOptions().python)
            m_patcher.python = change::interpreterOf(plan.setup.arms[0].command);
    }

    Result<ProgramTuneResult> run()
    {
        if (auto recorded = record(); !recorded)
            return tl::unexpected(recorded.error());
        if (auto same = change::checkRecordingOf(*m_first, command(), m_plan.setup.folder); !same)
            return tl::unexpected(same.error());
        while (!isOver()) {
            const auto candidate = next();
            if (!candidate) {
                m_result.why =
                    message<"tune.ended.nothing_left", "All changes that the rules propose have been tried.">();
                break;
            }
            if (!tryOne(*candidate) || isOver())
                continue;
            // A changed program may have another bottleneck. If the recording fails, the advice stays as it was.
            if (auto recorded = record(); !recorded && recorded.error().code != Error::Code::Cancelled)
                m_result.trials.back().notes.push_back(
                    message<"tune.program_not_recorded", "The program could not be recorded again: {error}">(
                        {{"error", recorded.error().message()}}));
        }
        measureTotal();
        m_result.stopped = m_stop.stop_requested();
        m_result.secondsSpent = m_budget.secondsSpent();
        return std::move(m_result);
    }

private:
    [[nodiscard]] const std::vector<std::string>& command() const { return m_plan.setup.arms[0].command; }
    [[nodiscard]] bool hasKept() const { return !m_result.kept.empty(); }
    [[nodiscard]] std::vector<WantedChange> kept() const
    {
        std::vector<WantedChange> changes;
        for (const Toggle& change : m_result.kept)
            changes.push_back({change.key, change.to});
        return changes;
    }

    bool isOver()
    {
        if (m_result.why.empty())
            m_result.why = m_budget.endedBy(m_result.trials, m_stop);
        return !m_result.why.empty();
    }

    /// Records the program with everything that was kept. Places to change come from the first recording, which is of
    /// the user's own files; later recordings only determine what to try next.
    Result<void> record()
    {
        ++m_round;
        report("recording the program for the rules", {}, {});
        std::shared_ptr<const profiler::Trace> trace = m_first ? nullptr : m_plan.trace;
        if (!trace) {
            ProgramVariant variant = m_plan.setup.arms[0];
            if (hasKept())
                if (const auto made = change::setVariant(variant, *m_first, kept(), m_patcher); !made)
                    return tl::unexpected(made.error());
            auto recorded = m_plan.record(m_plan.setup, variant, m_stop);
            if (!recorded)
                return tl::unexpected(recorded.error());
            trace = std::move(*recorded);
        }
        m_result.advice = advise(*trace, nullptr);
        m_cores = static_cast<int>(numberOf(metadata(*trace, "host.cores")));
        if (!m_first)
            m_first = std::move(trace);
        return {};
    }

    /// The current value of a setting; empty: unknown.
    [[nodiscard]] std::string valueOf(const std::string& key, const std::string& recorded) const
    {
        const auto found = std::find_if(m_result.kept.begin(), m_result.kept.end(),
                                        [&](const Toggle& change) { return change.key == key; });
        return found == m_result.kept.end() ? recorded : found->to;
    }

    std::optional<Candidate> next()
    {
        while (!m_further.empty()) {
            Candidate candidate = std::move(m_further.front());
            m_further.pop_front();
            if (!m_tried.contains({candidate.change.key, candidate.change.to}))
                return candidate;
        }
        std::vector<Candidate> candidates;
        for (const RuleAdvice& row : m_result.advice) {
            const Advice& found = row.advice;
            if (found.state != State::Fires || !found.proposed ||
                m_tried.contains({found.proposed->key, found.proposed->to}))
                continue;
            const std::string from = valueOf(found.proposed->key, found.proposed->from);
            if (from == found.proposed->to)
                continue;
            Candidate candidate{{found.proposed->key, from, found.proposed->to},
                                row.id,
                                found.title,
                                found.saving,
                                found.measure,
                                found.objective,
                                row.impact};
            candidate.makesRoom = found.objective == Objective::Memory;
            candidates.push_back(std::move(candidate));
        }
        std::erase_if(m_scaled, [&](const Candidate& scaled) { return !canScaleRate(scaled.change); });
        candidates.insert(candidates.end(), m_scaled.begin(), m_scaled.end());
        sortByImpact(candidates);
        return candidates.empty() ? std::nullopt : std::optional(std::move(candidates.front()));
    }

    /// True for a larger batch than the current one, as long as the learning rate is the program's own.
    [[nodiscard]] bool canScaleRate(const Toggle& change) const
    {
        return change.key == kBatchSize && numberOf(change.to) > batchSize() &&
               valueOf(std::string(kRateScaling), "").empty();
    }

    [[nodiscard]] std::int64_t batchSize() const
    {
        const auto recorded = programValues(*m_first).batchSize;
        return numberOf(valueOf(std::string(kBatchSize), recorded ? config::toText(*recorded) : ""));
    }

    /// All changes of a trial. Memory that was saved is used for twice the batch.
    [[nodiscard]] std::vector<WantedChange> changesOf(const Candidate& candidate) const
    {
        std::vector<WantedChange> changes = {{candidate.change.key, candidate.change.to}};
        if (candidate.makesRoom)
            changes.push_back({std::string(kBatchSize), config::toText(2 * batchSize())});
        if (!candidate.rateScaling.empty())
            changes.push_back({std::string(kRateScaling), candidate.rateScaling});
        return changes;
    }

    /// A larger batch that is faster but not shown to learn as much in the same time: it makes fewer updates, each of
    /// which may be larger. Tried with the other screenings, because each of them takes several training runs.
    void scaleRateToo(const Candidate& candidate, const TuneTrial& trial)
    {
        const bool learnsLess = trial.why.id == "experiment.loss_worse" || trial.why.id == "experiment.loss_not_shown";
        if (!learnsLess || !canScaleRate(trial.change) || !m_triedScaled.insert(trial.change.to).second)
            return;
        Candidate scaled = candidate;
        scaled.predicted.reset(); // a time, but the objective is now the loss
        scaled.objective = Objective::LossAtEqualTime;
        const std::string optimizer = programValues(*m_first).optimizer;
        scaled.rateScaling = optimizer.ends_with("SGD") || optimizer.ends_with("LARS") ? "linear" : "sqrt";
        m_scaled.push_back(std::move(scaled));
    }

    /// Why a change is not worth an experiment; empty: it is.
    [[nodiscard]] Message whyNotTried(const Candidate& candidate) const
    {
        if (candidate.makesRoom && batchSize() == 0)
            return message<"tune.skipped.memory",
                           "It saves memory but makes nothing faster by itself, and the batch size "
                           "that could use the memory is not recorded.">();
        return {};
    }

    /// True if it was kept.
    bool tryOne(const Candidate& candidate)
    {
        m_tried.insert({candidate.change.key, candidate.change.to});
        if (!candidate.rateScaling.empty())
            std::erase_if(m_scaled, [&](const Candidate& scaled) { return scaled.change.to == candidate.change.to; });
        TuneTrial trial;
        trial.change = candidate.change;
        trial.rule = candidate.rule;
        trial.title = candidate.title;
        trial.predicted = candidate.predicted;
        if (candidate.makesRoom)
            trial.title += ", to make room for twice the batch";
        if (!candidate.rateScaling.empty())
            trial.title += ", with a scaled learning rate";
        trial.outcome = TuneTrial::Outcome::Skipped;
        trial.why = whyNotTried(candidate);
        ProgramPlan plan = emptyPlan();
        if (trial.why.empty()) {
            const std::vector<WantedChange> changes = changesOf(candidate);
            for (const WantedChange& change : std::span(changes).subspan(1))
                trial.with.push_back({change.key, valueOf(change.key, ""), change.to});
            const auto set = change::setChanges(
                plan, *m_first, {.changes = changes, .kept = kept(), .advice = &m_result.advice, .patcher = m_patcher});
            if (!set)
                trial.why = set.error().what;
        }
        if (!trial.why.empty()) {
            m_result.trials.push_back(std::move(trial));
            return false;
        }
        trial.change = plan.changes.front();
        trial.with.assign(plan.changes.begin() + 1, plan.changes.end());
        double seconds = m_budget.secondsToTry(m_result.trials);
        if (candidate.rateScaling.empty() && canScaleRate(trial.change))
            seconds *= kShareForBatchAlone;
        if (!sameBatches(plan.changes))
            plan.horizon = learningTime(seconds);
        const auto result = measure(plan, trial.change, seconds, "");
        if (!result && result.error().code == Error::Code::Cancelled)
            return false;
        const bool keeps = result && evaluate(*result, trial) && keep(plan, trial);
        const Candidate tried{trial.change, candidate.rule, candidate.title, {}, {}, Objective::Time};
        if (!keeps)
            scaleRateToo(candidate, trial);
        m_result.trials.push_back(std::move(trial));
        if (keeps)
            search(tried);
        else if (!result)
            m_result.trials.back().why = message<"tune.failed", "{error}">({{"error", result.error().message()}});
        return keeps;
    }

    /// Evaluates the result of a trial. True: the change pays.
    bool evaluate(const ProgramResult& result, TuneTrial& trial)
    {
        m_result.program = result.program;
        trial.why = result.measured.why;
        trial.outcome = TuneTrial::Outcome::Dropped;
        if (result.isRefused) {
            trial.outcome = TuneTrial::Outcome::Refused;
            return false;
        }
        if (result.program.isTooShort) {
            trial.outcome = TuneTrial::Outcome::Failed;
            if (result.measured.plan.measure == "steps" &&
                !isScreening(result.measured.plan)) // the same would happen for any other change
                m_result.why = result.measured.why;
            return false;
        }
        trial.result = result.measured;
        return result.measured.verdict == Verdict::Pays;
    }

    /// @return false if the patch with all changes cannot be created because a file has changed in the meantime
    bool keep(const ProgramPlan& plan, TuneTrial& trial)
    {
        std::vector<Toggle> all = m_result.kept;
        for (const Toggle& change : plan.changes) {
            const auto same =
                std::find_if(all.begin(), all.end(), [&](const Toggle& earlier) { return earlier.key == change.key; });
            if (same != all.end())
                same->to = change.to;
            else
                all.push_back(change);
        }
        std::swap(all, m_result.kept);
        ProgramVariant variant = m_plan.setup.arms[0];
        auto patch = change::setVariant(variant, *m_first, kept(), m_patcher);
        if (!patch) {
            std::swap(all, m_result.kept);
            trial.outcome = TuneTrial::Outcome::Failed;
            trial.notes.push_back(patch.error().asMessage());
            return false;
        }
        m_result.patch = std::move(*patch);
        trial.outcome = TuneTrial::Outcome::Kept;
        const Interval& ratio = trial.result->samplesPerSecond;
        if (trial.result->plan.objective == Objective::Time && trial.result->plan.measure == "steps" &&
            ratio.isKnown()) {
            m_result.ratio.value *= ratio.value;
            m_result.ratio.low *= ratio.low;
            m_result.ratio.high *= ratio.high;
        }
        markKept(m_tried, plan.changes);
        return true;
    }

    /// Continues in the direction that paid.
    void search(const Candidate& kept)
    {
        m_further.clear();
        const auto search = searchOf(kept.change.key);
        if (search == config::ValueSearch::None)
            return;
        const std::int64_t now = numberOf(kept.change.to);
        for (const std::int64_t value :
             search == config::ValueSearch::Neighbours ? furtherWorkers(now, m_cores) : furtherBatches(now, {}))
            m_further.push_back({{kept.change.key, kept.change.to, config::toText(value)},
                                 kept.rule,
                                 "Continues in the direction that paid",
                                 std::nullopt,
                                 "steps",
                                 Objective::Time});
    }

    /// Each kept change was selected for its ratio, so the product of the ratios is biased upwards: the total is
    /// measured again. Steps are timed, so if no kept change acts in steps, there is nothing to measure.
    void measureTotal()
    {
        const bool actsInSteps = std::any_of(m_result.kept.begin(), m_result.kept.end(),
                                             [](const Toggle& change) { return measureOf({change}) == "steps"; });
        if (!actsInSteps || m_stop.stop_requested() || m_budget.isUsedUp())
            return;
        ProgramPlan plan = emptyPlan();
        if (!change::setChanges(plan, *m_first,
                                {.changes = kept(), .kept = {}, .advice = &m_result.advice, .patcher = m_patcher}))
            return;
        change::setMeasure(plan, "steps");
        if (!sameBatches(plan.changes))
            plan.horizon = learningTime(m_budget.secondsLeft());
        const auto result =
            measure(plan, plan.changes.front(), m_budget.secondsLeft(), "unchanged program against all kept changes, ");
        if (!result || result->isRefused || !result->measured.samplesPerSecond.isKnown())
            return;
        m_result.ratio = result->measured.samplesPerSecond;
        m_result.whole = result->measured;
        m_result.program = result->program;
    }

    [[nodiscard]] ProgramPlan emptyPlan() const
    {
        ProgramPlan plan;
        plan.setup = m_plan.setup;
        plan.setup.arms[1] = plan.setup.arms[0];
        plan.turn = m_plan.turn;
        return plan;
    }

    /// For losses of other batches: two turns without a budget.
    [[nodiscard]] std::chrono::milliseconds learningTime(double seconds) const
    {
        const std::chrono::milliseconds turns = 2 * m_plan.turn;
        if (m_plan.budget.count() == 0)
            return turns;
        return std::clamp(std::chrono::milliseconds(std::llround(1000 * kHorizonShare * seconds)), turns,
                          std::max<std::chrono::milliseconds>(turns, kHorizon));
    }

    Result<ProgramResult> measure(ProgramPlan& plan, const Toggle& trying, double seconds, const std::string& what)
    {
        plan.budget = m_budget.limit(seconds);
        return runProgramExperiment(
            plan, [&](const ExperimentProgress& state) { report(what + state.doing, trying, state.ratio); }, m_stop);
    }

    void report(const std::string& doing, const std::optional<Toggle>& trying, const std::optional<Interval>& ratio)
    {
        if (m_progress)
            m_progress({doing, m_round, trying, ratio, m_result.trials, m_budget.secondsSpent(),
                        m_plan.budget.count() > 0 ? std::max(0.0, m_budget.secondsLeft()) : 0});
    }

    const ProgramTunePlan& m_plan;
    const std::function<void(const TuneProgress&)>& m_progress;
    std::stop_token m_stop;
    change::PatcherOptions m_patcher;
    const TuneBudget m_budget{m_plan.budget};
    std::shared_ptr<const profiler::Trace> m_first; // of the unchanged program
    ProgramTuneResult m_result;
    Tried m_tried;
    std::deque<Candidate> m_further;
    std::vector<Candidate> m_scaled;     // batch sizes to try with a scaled learning rate
    std::set<std::string> m_triedScaled; // the batch sizes that were ever among them
    int m_cores = 0, m_round = 0;
};

} // namespace

Result<ProgramTuneResult> tuneProgram(const ProgramTunePlan& plan,
                                      const std::function<void(const TuneProgress&)>& progress, std::stop_token stop)
{
    return ProgramTuning(plan, progress, std::move(stop)).run();
}

} // namespace advisor
