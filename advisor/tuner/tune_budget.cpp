#include "advisor/tuner/tune_budget.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

using profiler::message;
using profiler::Message;

namespace {

// What two processes and the first look of an experiment take at the least; with less time there is no use in
// beginning.
constexpr double kLeastSeconds = 20;
// What is tried again after a change that hangs together with it may go round and round.
constexpr std::size_t kMostTrials = 60;
// Of the budget: for the start against the best at the end. Chosen: less than a program with a slow start takes would end
// without a total, and more than half would leave too little to try.
constexpr double kLeastForTheWhole = 0.15, kMostForTheWhole = 0.5;

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
    double forTheWhole = 0;
    bool hasKept = false;
    for (const TuneTrial& trial : trials)
        if (trial.outcome == TuneTrial::Outcome::Kept) {
            forTheWhole = hasKept ? std::min(forTheWhole, took(trial)) : took(trial);
            hasKept = true;
        }
    if (!hasKept)
        return secondsLeft();
    const auto budget = static_cast<double>(m_budget.count());
    return secondsLeft() - std::clamp(forTheWhole, kLeastForTheWhole * budget, kMostForTheWhole * budget);
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
        return message<"tune.ended.stopped", "Stopped; what paid until then is kept.">();
    if (trials.size() >= kMostTrials)
        return message<"tune.ended.most_trials", "{count} changes were tried.">({{"count", kMostTrials}});
    if (m_budget.count() > 0 &&
        secondsToTry(trials) < std::min(kLeastSeconds, 0.1 * static_cast<double>(m_budget.count())))
        return usedUp(trials);
    return {};
}

/// With the change that took most of it, so that nobody believes that an untried change does not pay.
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
