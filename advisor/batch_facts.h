#pragma once

#include "trainer/config/training_config.h"

namespace advisor {

/// Samples whose gradients one change of the weights sums up: accumulated batches on all copies of the model.
double samplesOfAStep(const config::TrainingConfig& config);
/// That over the batch which the learning rate is meant for.
double timesTheReferenceBatch(const config::TrainingConfig& config);

} // namespace advisor
