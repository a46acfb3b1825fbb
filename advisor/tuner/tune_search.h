#pragma once

#include "advisor/tuner/tuner.h"

#include <chrono>
#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

/// What the tuners of configurations and of programs share: which change to try next, and whether there is time for it.
namespace advisor {

/// A change that may be tried next.
struct Candidate {
    Toggle change;
    std::string rule; ///< the rule that proposed it
    std::string title;
    std::optional<Saving> predicted;
    std::string measure = "steps";
    Objective objective = Objective::Time;
    double impact = 0; ///< µs per step, see RuleAdvice
    /// It saves memory: tried together with twice the batch size, which uses that memory, with time as the objective.
    bool makesRoom = false;
    /// For a batch size: the value of optimizer.lr_scaling that is tried together with it, with the loss at equal time
    /// as the objective; empty: the learning rate stays.
    std::string rateScaling = {};
};
/// The state of a search for the largest batch size.
struct BatchLimits {
    std::int64_t samples = 0; ///< number of training samples: no batch is larger; 0: unknown
    std::int64_t failed = 0;  ///< the smallest batch size that could not be trained; 0: none yet
};
/// (key, value) pairs that were tried.
using Tried = std::set<std::pair<std::string, std::string>>;

/// Sorts the candidates: by estimated impact, with those that make room in memory after them and those that need a
/// screening at equal time last. Among equals, those with a prediction and those timed in steps come first.
void sortByImpact(std::vector<Candidate>& candidates);
/// All changes that are made when a candidate is tried.
std::vector<Toggle> changesOf(const Candidate& candidate, const config::TrainingConfig& now);
/// Advice that has not been tried, sorted by estimated impact; changes that make room in memory come last. Changes that
/// need a screening at equal time are excluded.
std::vector<Candidate> advised(const std::vector<RuleAdvice>& advice, const config::TrainingConfig& now,
                               const Tried& tried);
/// How to search further values of the knob after one that paid, from its row; None for an unknown key.
config::ValueSearch searchOf(std::string_view key);
/// Further values of a knob whose change paid, according to its row: more or fewer workers up to the number of cores;
/// twice the batch size or, if that could not be trained, a value halfway to it, until less than a quarter can be
/// gained. Without a rule: the rule of the kept change applies.
/// @param cores number of cores that a process may use; 0: unknown
std::vector<Candidate> further(const Toggle& kept, const config::TrainingConfig& now, int cores, const Tried& tried,
                               const BatchLimits& limits = {});
/// Numbers of loader workers to try after one that paid: one more, twice as many, one less, up to the number of cores.
std::vector<std::int64_t> furtherWorkers(std::int64_t workers, int cores);
/// Batch sizes to try after one that paid.
std::vector<std::int64_t> furtherBatches(std::int64_t batch, const BatchLimits& limits);
/// Marks values after changes that were kept together, the toggle first: the previous values have lost and count as
/// tried. Tried values of knobs in the same group as the toggle are forgotten, because they may pay now.
void markKept(Tried& tried, const std::vector<Toggle>& changes);

/// The time budget of a tuning, counted from the construction of this object.
class TuneBudget {
public:
    /// @param budget  0: no limit
    explicit TuneBudget(std::chrono::seconds budget) : m_budget(budget) {}

    [[nodiscard]] double secondsSpent() const;
    /// Negative after the budget is used up; meaningless without a budget.
    [[nodiscard]] double secondsLeft() const;
    /// Time left for more trials. After a change was kept, part of the budget is reserved for measuring the total: the
    /// time that the quickest kept change took, but at least 15 % and at most half of the budget.
    [[nodiscard]] double secondsToTry(const std::vector<TuneTrial>& trials) const;
    /// True if less than a second is left.
    [[nodiscard]] bool isUsedUp() const;
    /// Why no further change is tried: the user stopped the tuning, the budget is used up, or too many changes were
    /// tried. Empty: continue.
    [[nodiscard]] profiler::Message endedBy(const std::vector<TuneTrial>& trials, const std::stop_token& stop) const;
    /// The limit of an experiment that may take `seconds`; 0 without a budget.
    [[nodiscard]] std::chrono::seconds limit(double seconds) const;

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] profiler::Message usedUp(const std::vector<TuneTrial>& trials) const;

    const std::chrono::seconds m_budget;
    const Clock::time_point m_begin = Clock::now();
};

} // namespace advisor
