#pragma once

#include "advisor/advice.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <vector>

namespace advisor {

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
