#include "advisor/tuner/tuner.h"

#include "advisor/advice.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/knob_changes.h"
#include "advisor/tuner/tune_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>

namespace advisor {

namespace {

using profiler::Error;
using profiler::message;
using profiler::Message;
using profiler::Result;
using Clock = std::chrono::steady_clock;

class Tuning {
public:
    Tuning(const TunePlan& plan, const std::function<void(const TuneProgress&)>& progress, std::stop_token stop)
        : m_plan(plan), m_progress(progress), m_stop(std::move(stop))
    {
        m_result.start = m_result.best = plan.start;
    }

    Result<TuneResult> go()
    {
        if (auto recorded = record(); !recorded && recorded.error().code != profiler::Error::Code::Cancelled)
            return tl::unexpected(recorded.error());
        while (!isOver()) {
            const auto candidate = next();
            if (!candidate) {
                m_result.why =
                    message<"tune.ended.nothing_left", "All changes that the rules propose have been tried.">();
                break;
            }
            if (!tryOne(*candidate) || isOver())
                continue;
            // A changed training may have another bottleneck. If the recording fails, the advice stays as it was.
            if (auto recorded = record(); !recorded && recorded.error().code != profiler::Error::Code::Cancelled)
                m_result.trials.back().notes.push_back(
                    message<"tune.not_recorded", "The training could not be recorded again: {error}">(
                        {{"error", recorded.error().message()}}));
        }
        measureTotal();
        m_result.secondsSpent = m_budget.secondsSpent();
        return std::move(m_result);
    }

private:
    bool isOver()
    {
        if (m_result.why.empty())
            m_result.why = m_budget.endedBy(m_result.trials, m_stop);
        m_result.stopped = m_stop.stop_requested();
        return !m_result.why.empty();
    }

    /// Maximum seconds for the next trial.
    [[nodiscard]] double secondsToTry() const { return m_budget.secondsToTry(m_result.trials); }

    Result<void> record()
    {
        ++m_round;
        report("recording a training run for the rules", {}, {});
        const auto trace = m_plan.record(m_result.best, m_stop);
        if (!trace)
            return tl::unexpected(trace.error());
        m_result.advice = advise(**trace, &m_result.best);
        const auto cores = (*trace)->metadata().find("host.cores");
        m_cores = cores == (*trace)->metadata().end() ? 0 : std::atoi(cores->second.c_str());
        const auto samples = (*trace)->metadata().find("dataset.train_samples");
        m_batches.samples = samples == (*trace)->metadata().end() ? 0 : std::atoll(samples->second.c_str());
        return {};
    }

    std::optional<Candidate> next()
    {
        while (!m_further.empty()) {
            Candidate candidate = std::move(m_further.front());
            m_further.pop_front();
            candidate.change.from = m_result.best.text(candidate.change.key);
            if (candidate.change.from != candidate.change.to &&
                !m_tried.contains({candidate.change.key, candidate.change.to}))
                return candidate;
        }
        auto candidates = advised(m_result.advice, m_result.best, m_tried);
        return candidates.empty() ? std::nullopt : std::optional(std::move(candidates.front()));
    }

    /// True if it was kept.
    bool tryOne(const Candidate& candidate)
    {
        m_tried.insert({candidate.change.key, candidate.change.to});
        TuneTrial trial;
        const std::vector<Toggle> changes = changesOf(candidate, m_result.best);
        trial.change = candidate.change;
        std::ranges::copy_if(changes, std::back_inserter(trial.with),
                             [&](const Toggle& change) { return change.key != candidate.change.key; });
        trial.rule = candidate.rule;
        trial.title = candidate.title;
        trial.predicted = candidate.predicted;
        trial.outcome = TuneTrial::Outcome::Failed;
        if (hasNoUse(candidate)) {
            trial.outcome = TuneTrial::Outcome::Skipped;
            trial.why = message<"tune.skipped.too_few_samples",
                                "It saves memory but makes nothing faster by itself, and the dataset has too few "
                                "samples for the larger batch that it makes room for.">();
            m_result.trials.push_back(std::move(trial));
            return false;
        }
        const auto result = experiment(candidate);
        if (!result) {
            if (result.error().code == profiler::Error::Code::Cancelled)
                return false;
            trial.why = message<"tune.failed", "{error}">({{"error", result.error().message()}});
            m_result.trials.push_back(std::move(trial));
            searchBelow(candidate);
            return false;
        }
        trial.result = *result;
        trial.why = result->why;
        const bool keeps = result->verdict == Verdict::Pays;
        trial.outcome = keeps ? TuneTrial::Outcome::Kept : TuneTrial::Outcome::Dropped;
        m_result.trials.push_back(std::move(trial));
        if (keeps)
            keep(candidate, *result);
        return keeps;
    }

    [[nodiscard]] bool hasNoUse(const Candidate& candidate) const
    {
        if (!candidate.makesRoom || m_batches.samples == 0)
            return false;
        config::TrainingConfig changed = m_result.best;
        for (const Toggle& change : changesOf(candidate, m_result.best))
            static_cast<void>(changed.set(change.key, change.to));
        return samplesOfAStep(changed) > static_cast<double>(m_batches.samples);
    }

    /// If a batch size cannot be trained, one between it and the best may work.
    void searchBelow(const Candidate& candidate)
    {
        if (searchOf(candidate.change.key) != config::ValueSearch::Doubling)
            return;
        config::TrainingConfig failed = m_result.best;
        if (failed.set(candidate.change.key, candidate.change.to))
            m_batches.failed = std::get<std::int64_t>(failed.value(candidate.change.key));
        search(candidate);
    }

    void search(const Candidate& candidate)
    {
        m_further.clear();
        for (Candidate& more : further(candidate.change, m_result.best, m_cores, m_tried, m_batches)) {
            more.rule = candidate.rule;
            m_further.push_back(std::move(more));
        }
    }

    void keep(const Candidate& candidate, const ExperimentResult& result)
    {
        const std::vector<Toggle> changes = changesOf(candidate, m_result.best);
        // The values are valid, because the trainer has used them.
        for (const Toggle& change : changes)
            static_cast<void>(m_result.best.set(change.key, change.to));
        if (candidate.objective == Objective::Time && candidate.measure == "steps" &&
            result.samplesPerSecond.isKnown()) {
            m_result.ratio.value *= result.samplesPerSecond.value;
            m_result.ratio.low *= result.samplesPerSecond.low;
            m_result.ratio.high *= result.samplesPerSecond.high;
        }
        markKept(m_tried, changes);
        // With other settings, another batch size may fit.
        if (searchOf(candidate.change.key) != config::ValueSearch::Doubling)
            m_batches.failed = 0;
        search(candidate);
    }

    /// Each kept change was selected for its ratio, so the product of the ratios is biased upwards: the total is
    /// measured again.
    void measureTotal()
    {
        ExperimentPlan plan;
        plan.baseline = m_result.start;
        for (const config::Difference& change : config::difference(m_result.start, m_result.best))
            plan.changes.push_back({change.key, change.a, change.b});
        if (plan.changes.empty() || m_stop.stop_requested() || m_budget.isUsedUp())
            return;
        const Toggle first = plan.changes.front();
        auto result = measure(std::move(plan), first, m_budget.secondsLeft(), "start against all kept changes, ");
        m_result.stopped = m_stop.stop_requested();
        if (!result || !result->samplesPerSecond.isKnown())
            return;
        m_result.ratio = result->samplesPerSecond;
        m_result.whole = std::move(*result);
    }

    Result<ExperimentResult> experiment(const Candidate& candidate)
    {
        ExperimentPlan plan;
        plan.baseline = m_result.best;
        plan.changes = changesOf(candidate, m_result.best);
        plan.objective = candidate.objective;
        plan.measure = candidate.measure;
        plan.predicted = candidate.predicted;
        return measure(std::move(plan), candidate.change, secondsToTry(), "");
    }

    Result<ExperimentResult> measure(ExperimentPlan plan, const Toggle& trying, double seconds, const std::string& what)
    {
        plan.trainer = m_plan.trainer;
        plan.turn = m_plan.turn;
        plan.budget = m_budget.limit(seconds);
        return runExperiment(
            plan, [&](const ExperimentProgress& state) { report(what + state.doing, trying, state.ratio); }, m_stop);
    }

    void report(const std::string& doing, const std::optional<Toggle>& trying, const std::optional<Interval>& ratio)
    {
        if (m_progress)
            m_progress({doing, m_round, trying, ratio, m_result.trials, m_budget.secondsSpent(),
                        m_plan.budget.count() > 0 ? std::max(0.0, m_budget.secondsLeft()) : 0});
    }

    const TunePlan& m_plan;
    const std::function<void(const TuneProgress&)>& m_progress;
    std::stop_token m_stop;
    const TuneBudget m_budget{m_plan.budget};
    TuneResult m_result;
    Tried m_tried;
    std::deque<Candidate> m_further;
    BatchLimits m_batches;
    int m_cores = 0, m_round = 0;
};

constexpr std::chrono::seconds kToStop{60};
// Maximum time between two reports while libraries are read from a cold disk, data is scanned, or the first step is
// compiled.
constexpr std::chrono::seconds kPatience{300};

profiler::Result<void> outcome(const TrainerExit& exit)
{
    if (exit.signal != 0 || exit.status != 0)
        return tl::unexpected(Error{Error::Code::Unavailable, exit.asMessage(), {}, {}});
    return {};
}

} // namespace

std::string TuneTrial::whyText() const
{
    std::string text = result ? result->whyText() : why.text;
    for (const Message& note : notes)
        text += ' ' + note.text;
    return text;
}

std::string_view outcomeName(TuneTrial::Outcome outcome)
{
    switch (outcome) {
    case TuneTrial::Outcome::Kept:
        return "kept";
    case TuneTrial::Outcome::Dropped:
        return "dropped";
    case TuneTrial::Outcome::Skipped:
        return "skipped";
    case TuneTrial::Outcome::Refused:
        return "refused by the program";
    case TuneTrial::Outcome::Failed:
        break;
    }
    return "failed";
}

Result<TuneResult> tune(const TunePlan& plan, const std::function<void(const TuneProgress&)>& progress,
                        std::stop_token stop)
{
    return Tuning(plan, progress, std::move(stop)).go();
}

profiler::Result<void> recordTraining(const std::filesystem::path& trainer, const config::TrainingConfig& config,
                                      const std::filesystem::path& file, std::chrono::milliseconds least,
                                      const std::stop_token& stop)
{
    config::TrainingConfig recorded = config;
    if (const auto set = recorded.set(config::key::captureEnabled.name, "true"); !set)
        return tl::unexpected(configError(Error::Code::Invalid, set.error()));
    ScratchFiles scratch;
    if (const auto moved = scratch.redirect(recorded); !moved)
        return tl::unexpected(moved.error());
    auto process = TrainerProcess::start(recorded, {.program = trainer, .trace = file, .turns = false});
    if (!process)
        return tl::unexpected(process.error());
    std::optional<Clock::time_point> firstStep, stopSent;
    auto heard = Clock::now();
    bool killed = false;
    for (;;) {
        const auto progress = (*process)->next(std::chrono::milliseconds(50));
        const auto now = Clock::now();
        if (progress)
            heard = now;
        else if (now - heard > kPatience && !stopSent)
            return tl::unexpected(Error{Error::Code::Unavailable,
                                        noAnswer(kPatience),
                                        {},
                                        "run the training alone and check on its timeline where it hangs"});
        if (progress && std::holds_alternative<config::protocol::StepProgress>(*progress) && !firstStep)
            firstStep = now;
        if (stop.stop_requested()) // the trace is not needed: the trainer is killed when it goes out of scope
            return profiler::fail<"tune.recording_cancelled", "The recording was cancelled">(Error::Code::Cancelled);
        if (!stopSent && firstStep && now - *firstStep > least) {
            static_cast<void>((*process)->send(config::protocol::Stop{})); // it may have exited just now
            stopSent = now;
        }
        if (stopSent && !killed && now - *stopSent > kToStop) {
            (*process)->kill(); // what it has recorded so far can be read
            killed = true;
        }
        if (progress)
            continue;
        if (const auto exit = (*process)->exited())
            return killed ? profiler::Result<void>() : outcome(*exit);
    }
}

} // namespace advisor
