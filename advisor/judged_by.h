#pragma once

#include "advisor/advice.h"

#include <string>
#include <string_view>
#include <vector>

namespace advisor {

/// What shows whether a change of this knob pays, from the knob's row. Rules agree with it for their own toggles.
/// @param key  time for an unknown one
JudgedBy judgedBy(std::string_view key);
/// The same for changes that are made together: the loss at equal time where one of them changes what the model learns;
/// memory where all of them are judged by memory, or divide the batch of an update into smaller parts.
JudgedBy judgedBy(const std::vector<Toggle>& changes);

/// What is to be timed, as Advice::measure: where the first of the changes acts that does not act in every step.
std::string measureOf(const std::vector<Toggle>& changes);

} // namespace advisor
