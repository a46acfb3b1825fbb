#pragma once

#include "advisor/cli/commands.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <vector>

namespace advisor::cli {

/// Loads a configuration; on failure says why on `err`, and gives the exit status instead.
tl::expected<config::TrainingConfig, int> loadConfiguration(const std::filesystem::path& file, const Streams& streams);
/// Applies "key=value" assignments; a wrong one is wrong usage.
tl::expected<config::TrainingConfig, int>
withAssignments(config::TrainingConfig config, const std::vector<std::string>& assignments, const Streams& streams);

} // namespace advisor::cli
