#include "advisor/tuner/tuner.h"

#include "advisor/batch_facts.h"
#include "advisor/numbers.h"
#include "advisor/tuner/candidates.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

namespace advisor {

using profiler::Result;

namespace {

using Clock = std::chrono::steady_clock;
// What two processes and the first look of an experiment take at the least; with less time there is no use in
// beginning.
constexpr double kLeastSeconds = 20;
// What is tried again after a change that hangs together with it may go round and round.
constexpr std::size_t kMostTrials = 60;

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
                m_result.why = "Nothing is left that the rules advise and that was not tried.";
                break;
            }
            if (!tryOne(*candidate) || isOver())
                continue;
            // Another training may have another bottleneck. A recording that fails leaves the advice as it was.
            if (auto recorded = record(); !recorded && recorded.error().code != profiler::Error::Code::Cancelled)
                m_result.trials.back().why += " It was not recorded again: " + recorded.error().message();
        }
        m_result.secondsSpent = seconds();
        return std::move(m_result);
    }

private:
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - m_begin).count(); }
    [[nodiscard]] double secondsLeft() const { return static_cast<double>(m_plan.budget.count()) - seconds(); }

    bool isOver()
    {
        m_result.stopped = m_stop.stop_requested();
        if (m_result.stopped)
            m_result.why = "It was stopped; what paid until then is kept.";
        else if (m_result.trials.size() >= kMostTrials)
            m_result.why = fmt::format("{} changes were tried.", kMostTrials);
        else if (m_plan.budget.count() > 0 &&
                 secondsLeft() < std::min(kLeastSeconds, 0.1 * static_cast<double>(m_plan.budget.count())))
            m_result.why = "The time was over.";
        return !m_result.why.empty();
    }

    Result<void> record()
    {
        ++m_round;
        tell("recording a training to ask the rules", {}, {});
        const auto trace = m_plan.record(m_result.best, m_stop);
        if (!trace)
            return tl::unexpected(trace.error());
        m_result.advice = advise(**trace, &m_result.best);
        const auto cores = (*trace)->metadata().find("host.cores");
        m_cores = cores == (*trace)->metadata().end() ? 0 : std::atoi(cores->second.c_str());
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

    /// True when it was kept.
    bool tryOne(const Candidate& candidate)
    {
        m_tried.insert({candidate.change.key, candidate.change.to});
        TuneTrial trial{candidate.change,
                        candidate.rule,
                        candidate.title,
                        candidate.predicted,
                        std::nullopt,
                        TuneTrial::Outcome::Failed,
                        {}};
        const auto result = experiment(candidate);
        if (!result) {
            if (result.error().code == profiler::Error::Code::Cancelled)
                return false;
            trial.why = result.error().message();
            m_result.trials.push_back(std::move(trial));
            return false;
        }
        trial.result = *result;
        trial.why = result->why;
        const bool pays = result->verdict == Verdict::Pays;
        trial.outcome = pays ? TuneTrial::Outcome::Kept : TuneTrial::Outcome::Dropped;
        m_result.trials.push_back(std::move(trial));
        if (pays)
            keep(candidate, *result);
        return pays;
    }

    void keep(const Candidate& candidate, const ExperimentResult& result)
    {
        const std::vector<Toggle> changes = changesOf(candidate.change, m_result.best);
        // It was trained with these values: they are some.
        for (const Toggle& change : changes)
            static_cast<void>(m_result.best.set(change.key, change.to));
        // What saves memory may cost speed, and that counts as well.
        const bool ofSteps = candidate.judgedBy == JudgedBy::Memory ||
                             (candidate.judgedBy == JudgedBy::Time && candidate.measure == "steps");
        if (ofSteps && result.samplesPerSecond.isKnown()) {
            m_result.ratio.value *= result.samplesPerSecond.value;
            m_result.ratio.low *= result.samplesPerSecond.low;
            m_result.ratio.high *= result.samplesPerSecond.high;
        }
        markKept(m_tried, changes);
        m_further.clear();
        for (Candidate& more : further(candidate.change, m_result.best, m_cores, m_tried)) {
            more.rule = candidate.rule;
            m_further.push_back(std::move(more));
        }
    }

    Result<ExperimentResult> experiment(const Candidate& candidate)
    {
        ExperimentPlan plan;
        plan.baseline = m_result.best;
        plan.changes = changesOf(candidate.change, m_result.best);
        plan.judgedBy = candidate.judgedBy;
        plan.measure = candidate.measure;
        plan.predicted = candidate.predicted;
        plan.trainer = m_plan.trainer;
        plan.turn = m_plan.turn;
        if (m_plan.budget.count() > 0)
            plan.budget = std::chrono::seconds(std::max<std::int64_t>(1, static_cast<std::int64_t>(secondsLeft())));
        return runExperiment(
            plan, [&](const ExperimentProgress& state) { tell(state.doing, candidate.change, state.ratio); }, m_stop);
    }

    void tell(const std::string& doing, const std::optional<Toggle>& trying, const std::optional<Interval>& ratio)
    {
        if (m_progress)
            m_progress({doing, m_round, trying, ratio, m_result.trials, seconds(),
                        m_plan.budget.count() > 0 ? std::max(0.0, secondsLeft()) : 0});
    }

    const TunePlan& m_plan;
    const std::function<void(const TuneProgress&)>& m_progress;
    std::stop_token m_stop;
    Clock::time_point m_begin = Clock::now();
    TuneResult m_result;
    Tried m_tried;
    std::deque<Candidate> m_further;
    int m_cores = 0, m_round = 0;
};

} // namespace

std::string_view outcomeName(TuneTrial::Outcome outcome)
{
    return outcome == TuneTrial::Outcome::Kept ? "kept" : outcome == TuneTrial::Outcome::Dropped ? "dropped" : "failed";
}

Result<TuneResult> tune(const TunePlan& plan, const std::function<void(const TuneProgress&)>& progress,
                        std::stop_token stop)
{
    return Tuning(plan, progress, std::move(stop)).go();
}

} // namespace advisor
