#pragma once

#include "app/terminal/commands.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>
#include <vector>

namespace app::terminal {

/// Loads a configuration; if this fails, reports the reason on `err` and returns the exit status.
tl::expected<config::TrainingConfig, int> loadConfiguration(const std::filesystem::path& file, const Streams& streams);
/// Applies "key=value" assignments; an invalid one counts as wrong usage.
tl::expected<config::TrainingConfig, int>
withAssignments(config::TrainingConfig config, const std::vector<std::string>& assignments, const Streams& streams);

} // namespace app::terminal
