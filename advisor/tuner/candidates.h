#pragma once

#include "advisor/tuner/tuner.h"

#include <set>
#include <string>
#include <utility>

namespace advisor {

/// What may be tried next.
struct Candidate {
    Toggle change;
    std::string rule; ///< that advised it
    std::string title;
    std::optional<Saving> predicted;
    std::string measure = "steps";
    JudgedBy judgedBy = JudgedBy::Time;
};
/// (key, value) pairs that were tried.
using Tried = std::set<std::pair<std::string, std::string>>;

/// What the rules advise and has not been tried, in the rules' order of what it saves; convergence left out.
std::vector<Candidate> advised(const std::vector<RuleAdvice>& advice, const config::TrainingConfig& now,
                               const Tried& tried);
/// Values further along the way that paid: more or fewer workers within the cores, twice the batch. Empty for other
/// knobs. Without a rule: that is the kept change's.
/// @param cores  that a process may use; 0: not known
std::vector<Candidate> further(const Toggle& kept, const config::TrainingConfig& now, int cores, const Tried& tried);
/// After changes that were kept together, the toggle first: what they changed from lost and counts as tried. What was
/// tried of knobs that hang together with the toggle is forgotten: it may pay now.
void markKept(Tried& tried, const std::vector<Toggle>& changes);

} // namespace advisor
