#pragma once

#include "advisor/advice.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <vector>

namespace advisor {

/// Samples whose gradients one change of the weights sums up: accumulated batches on all copies of the model.
double samplesOfAStep(const config::TrainingConfig& config);
/// That over the batch which the learning rate is meant for.
double timesTheReferenceBatch(const config::TrainingConfig& config);

/// gradient.accumulation with which the batch can be divided evenly into the least number of smaller parts; none where
/// these would be more than eight.
std::optional<Toggle> partsOfTheBatch(const config::TrainingConfig& config);
/// All that changes where a finding's toggle is applied to `now`: with gradient.accumulation the batch becomes a part
/// of what it was, where that is a whole number, so that an update of the weights sees as many samples.
std::vector<Toggle> changesOf(const Toggle& toggle, const config::TrainingConfig& now);
/// Whether the number of samples of a weight update is a multiple of this knob's value (batch size, accumulation).
bool isBatchFactor(std::string_view key);
/// Whether as many samples go into an update of the weights after these changes as before.
bool keepTheBatch(const std::vector<Toggle>& changes);

} // namespace advisor
