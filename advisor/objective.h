#pragma once

#include "advisor/advice.h"

#include <string>
#include <string_view>
#include <vector>

namespace advisor {

/// The objective that shows whether a change of this knob pays, from the knob's row in the table. Rules use the same
/// for their own toggles.
/// @param key time if the key is unknown
Objective objectiveOf(std::string_view key);
/// The same for changes that are made together: the loss at equal time if one of them changes what the model learns;
/// memory if all of them have the objective memory or split the batch of an update into smaller parts.
Objective objectiveOf(const std::vector<Toggle>& changes);

/// What to time, as in Advice::measure: determined by the first change that does not act in every step.
std::string measureOf(const std::vector<Toggle>& changes);

} // namespace advisor
