#include "advisor/tuner/tune_search.h"

#include "advisor/knob_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace advisor {

namespace {

using profiler::message;
using profiler::Message;

/// The group of settings that the knob belongs to, from its row; empty for none.
std::string_view settingsOf(std::string_view key)
{
    const config::Knob* knob = config::findKnob(key);
    return knob ? knob->settings : std::string_view();
}

/// The trainer's own search changes what a step is; tuning searches batch sizes by trials instead.
bool canBeTried(const Toggle& change)
{
    const config::Knob* knob = config::findKnob(change.key);
    return knob && !knob->searchesBatch;
}

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

config::ValueSearch searchOf(std::string_view key)
{
    const config::Knob* knob = config::findKnob(key);
    return knob ? knob->search : config::ValueSearch::None;
}

std::vector<Toggle> changesOf(const Candidate& candidate, const config::TrainingConfig& now)
{
    namespace key = config::key;
    std::vector<Toggle> changes = changesOf(candidate.change, now);
    if (!candidate.makesRoom)
        return changes;
    const auto batch =
        std::find_if(changes.begin(), changes.end(), [](const Toggle& c) { return c.key == key::batchSize.name; });
    config::TrainingConfig changed = now;
    if (batch != changes.end()) {
        static_cast<void>(changed.set(batch->key, batch->to));
        changes.erase(batch);
    }
    if (const std::int64_t size = 2 * changed[key::batchSize]; size != now[key::batchSize])
        changes.push_back({std::string(key::batchSize.name), now.text(key::batchSize.name), config::toText(size)});
    return changes;
}

std::vector<Candidate> advised(const std::vector<RuleAdvice>& advice, const config::TrainingConfig& now,
                               const Tried& tried)
{
    std::vector<Candidate> candidates;
    for (const RuleAdvice& row : advice) {
        const Advice& found = row.advice;
        if (found.state != State::Fires || !found.toggle || found.objective == Objective::LossAtEqualTime ||
            !canBeTried(*found.toggle))
            continue;
        const Toggle change{found.toggle->key, now.text(found.toggle->key), found.toggle->to};
        if (change.from == change.to || tried.contains({change.key, change.to}))
            continue;
        Candidate candidate{change, row.id, found.title, found.saving, found.measure, found.objective, row.impact};
        if (found.objective == Objective::Memory) {
            candidate.makesRoom = true;
            candidate.objective = Objective::Time;
            candidate.measure = "steps";
            candidate.predicted.reset(); // in bytes, but the objective is now time
            candidate.title += ", to make room for twice the batch";
        }
        candidates.push_back(std::move(candidate));
    }
    sortByImpact(candidates);
    return candidates;
}

void sortByImpact(std::vector<Candidate>& candidates)
{
    // An epoch or a validation takes as long as many steps, so changes that are timed in steps are decided sooner.
    const auto rank = [](const Candidate& c) {
        return std::tuple(c.objective == Objective::LossAtEqualTime, c.makesRoom, -c.impact, !c.predicted.has_value(),
                          c.measure != "steps");
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
}

std::vector<std::int64_t> furtherWorkers(std::int64_t workers, int cores)
{
    std::vector<std::int64_t> values;
    for (const std::int64_t value : {workers + 1, workers * 2, workers - 1})
        if (value > 0 && value != workers && (cores == 0 || value <= cores) &&
            std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(value);
    return values;
}

/// At most the number of samples, and below a value that failed.
std::vector<std::int64_t> furtherBatches(std::int64_t batch, const BatchLimits& limits)
{
    if (limits.failed > batch)
        return limits.failed - batch > batch / 4 ? std::vector{(batch + limits.failed) / 2}
                                                 : std::vector<std::int64_t>();
    return limits.samples == 0 || 2 * batch <= limits.samples ? std::vector{2 * batch} : std::vector<std::int64_t>();
}

std::vector<Candidate> further(const Toggle& kept, const config::TrainingConfig& now, int cores, const Tried& tried,
                               const BatchLimits& limits)
{
    const config::ValueSearch search = searchOf(kept.key);
    if (search == config::ValueSearch::None)
        return {};
    const auto value = std::get<std::int64_t>(now.value(kept.key));
    const auto values =
        search == config::ValueSearch::Neighbours ? furtherWorkers(value, cores) : furtherBatches(value, limits);
    std::vector<Candidate> candidates;
    for (const std::int64_t further : values)
        if (const std::string to = config::toText(further); !tried.contains({kept.key, to}))
            candidates.push_back({{kept.key, now.text(kept.key), to},
                                  {},
                                  "Continues in the direction that paid",
                                  std::nullopt,
                                  "steps",
                                  Objective::Time});
    return candidates;
}

void markKept(Tried& tried, const std::vector<Toggle>& changes)
{
    if (const std::string_view settings = changes.empty() ? "" : settingsOf(changes.front().key); !settings.empty())
        std::erase_if(tried, [&](const auto& entry) {
            return entry.first != changes.front().key && settingsOf(entry.first) == settings;
        });
    for (const Toggle& change : changes)
        tried.insert({change.key, change.from});
}

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
