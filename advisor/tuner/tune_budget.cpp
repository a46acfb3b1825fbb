#include "advisor/tuner/tune_budget.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

using profiler::message;
using profiler::Message;

namespace {

// Minimum time for two processes and the first look of an experiment; with less time, it is not worth starting one.
constexpr double kLeastSeconds = 20;
// Changes that are tried again after a related change was kept could otherwise be tried forever.
constexpr std::size_t kMostTrials = 60;
// Share of the budget for the final comparison with the start. Chosen: with less, programs that start slowly would get
// no total; with more than half, too little would be left for trials.
constexpr double kLeastForTotal = 0.15, kMostForTotal = 0.5;

double took(const TuneTrial& trial)
{
    return trial.result ? trial.result->secondsSpent : 0;
}

} // namespace

double TuneBudget::secondsSpent() const
{
    return std::chrono::duration<double>(Clock::now() - m_begin).count();
}

double TuneBudget::secondsLeft() const
{
    return static_cast<double>(m_budget.count()) - secondsSpent();
}

double TuneBudget::secondsToTry(const std::vector<TuneTrial>& trials) const
{
    double forTotal = 0;
    bool hasKept = false;
    for (const TuneTrial& trial : trials)
        if (trial.outcome == TuneTrial::Outcome::Kept) {
            forTotal = hasKept ? std::min(forTotal, took(trial)) : took(trial);
            hasKept = true;
        }
    if (!hasKept)
        return secondsLeft();
    const auto budget = static_cast<double>(m_budget.count());
    return secondsLeft() - std::clamp(forTotal, kLeastForTotal * budget, kMostForTotal * budget);
}

bool TuneBudget::isUsedUp() const
{
    return m_budget.count() > 0 && secondsLeft() < 1;
}

std::chrono::seconds TuneBudget::limit(double seconds) const
{
    return std::chrono::seconds(m_budget.count() > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds))
                                                     : 0);
}

Message TuneBudget::endedBy(const std::vector<TuneTrial>& trials, const std::stop_token& stop) const
{
    if (stop.stop_requested())
        return message<"tune.ended.stopped", "Stopped; the changes that paid so far are kept.">();
    if (trials.size() >= kMostTrials)
        return message<"tune.ended.most_trials", "{count} changes were tried.">({{"count", kMostTrials}});
    if (m_budget.count() > 0 &&
        secondsToTry(trials) < std::min(kLeastSeconds, 0.1 * static_cast<double>(m_budget.count())))
        return usedUp(trials);
    return {};
}

/// Names the change that took most of the budget, so that users do not conclude that untried changes do not pay.
Message TuneBudget::usedUp(const std::vector<TuneTrial>& trials) const
{
    const auto longest = std::max_element(trials.begin(), trials.end(),
                                          [](const TuneTrial& a, const TuneTrial& b) { return took(a) < took(b); });
    if (longest == trials.end() || took(*longest) < 0.5 * static_cast<double>(m_budget.count()))
        return message<"tune.ended.budget", "Time budget used up.">();
    return message<"tune.ended.budget_by_one",
                   "Time budget used up: {key} = {value} alone took {seconds} of {budget}.">(
        {{"key", longest->change.key},
         {"value", longest->change.to},
         {"seconds", took(*longest), fmt::format("{:.0f} s", took(*longest))},
         {"budget", m_budget.count(), fmt::format("{} s", m_budget.count())}});
}

} // namespace advisor
