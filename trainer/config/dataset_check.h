#pragma once

#include "trainer/config/training_config.h"

#include <optional>

namespace config {

/// What is wrong with the dataset's file or folder, judging by names only: it does not exist, cannot be read, is empty,
/// or contains no file of the kind that dataset.kind expects. Reads no file contents, and at most some thousand
/// directory entries. nullopt: no problem found; the trainer may still reject a damaged file. The error has the key
/// dataset.path, the path as its value, and the problem in `allowed`.
std::optional<ConfigError> datasetProblem(const TrainingConfig& config);

} // namespace config
