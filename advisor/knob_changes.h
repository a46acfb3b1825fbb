#pragma once

#include "advisor/advice.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What changes of knobs mean for an experiment: its objective, what to time, and whether a weight update still uses
/// the same samples.
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

/// Number of samples whose gradients are summed for one weight update: accumulated batches on all copies of the model.
double samplesOfAStep(const config::TrainingConfig& config);
/// That number divided by the batch size for which the learning rate was chosen.
double timesTheReferenceBatch(const config::TrainingConfig& config);

/// The gradient.accumulation that divides the batch evenly into the smallest number of smaller parts; no value if this
/// needs more than eight parts.
std::optional<Toggle> partsOfTheBatch(const config::TrainingConfig& config);
/// All changes that applying a finding's toggle to `now` makes: with gradient.accumulation, the batch size is divided
/// by the same factor, if the result is a whole number, so that a weight update sees the same number of samples.
std::vector<Toggle> changesOf(const Toggle& toggle, const config::TrainingConfig& now);
/// Whether the number of samples of a weight update is proportional to this knob's value (batch size, accumulation).
bool isBatchFactor(std::string_view key);
/// Whether a weight update uses the same number of samples after these changes as before.
bool keepTheBatch(const std::vector<Toggle>& changes);

} // namespace advisor
