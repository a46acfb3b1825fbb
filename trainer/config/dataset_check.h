#pragma once

#include "trainer/config/training_config.h"

#include <optional>

namespace config {

/// What is wrong with the data set's file or folder, as far as names tell: it does not exist, cannot be read, is empty,
/// or holds no file of the kind that dataset.kind expects. Reads no contents, and at most some thousand directory
/// entries. Nothing: the trainer may still refuse a file that is damaged. The error has
/// dataset.path as its key, the path as its value, and what is wrong in `allowed`.
std::optional<ConfigError> datasetProblem(const TrainingConfig& config);

} // namespace config
