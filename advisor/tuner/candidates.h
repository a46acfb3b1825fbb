#pragma once

#include "advisor/tuner/tuner.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace advisor {

/// What may be tried next.
struct Candidate {
    Toggle change;
    std::string rule; ///< that advised it
    std::string title;
    std::optional<Saving> predicted;
    std::string measure = "steps";
    JudgedBy judgedBy = JudgedBy::Time;
    double worth = 0; ///< µs of a step, see RuleAdvice
    /// It saves memory: tried with twice the batch beside it, which is what that memory is for, and judged by the time.
    bool makesRoom = false;
};
/// What a search for the largest batch has come to.
struct BatchLimits {
    std::int64_t samples = 0; ///< to train on: no batch is larger; 0: not known
    std::int64_t failed = 0;  ///< the smallest batch that could not be trained; 0: none yet
};
/// (key, value) pairs that were tried.
using Tried = std::set<std::pair<std::string, std::string>>;

/// The order of trials: by estimated impact, and what makes room in the memory last. Of equals, those with a
/// prediction, and those that are timed in steps.
void sortByWorth(std::vector<Candidate>& candidates);
/// All that changes where a candidate is tried.
std::vector<Toggle> changesOf(const Candidate& candidate, const config::TrainingConfig& now);
/// Advice that has not been tried, by its estimated impact; what makes room in the memory comes last. Changes that need
/// a screening at equal time are left out.
std::vector<Candidate> advised(const std::vector<RuleAdvice>& advice, const config::TrainingConfig& now,
                               const Tried& tried);
/// How values of the knob are searched after one that paid, from its row; None for an unknown key.
config::ValueSearch searchOf(std::string_view key);
/// Further values of a knob whose change paid, as its row says: more or fewer workers within the cores; twice the
/// batch, and where that could not be trained one halfway to it, until a quarter more is all there is to win. Without a
/// rule: that is the kept change's.
/// @param cores  that a process may use; 0: not known
std::vector<Candidate> further(const Toggle& kept, const config::TrainingConfig& now, int cores, const Tried& tried,
                               const BatchLimits& limits = {});
/// The numbers of loader workers that are worth trying after one that paid: one more, twice as many, one less, within
/// the cores.
std::vector<std::int64_t> furtherWorkers(std::int64_t workers, int cores);
/// After changes that were kept together, the toggle first: what they changed from lost and counts as tried. What was
/// tried of knobs that hang together with the toggle is forgotten: it may pay now.
void markKept(Tried& tried, const std::vector<Toggle>& changes);

} // namespace advisor
