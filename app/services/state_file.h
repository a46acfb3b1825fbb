#pragma once

#include "app/configuration/undo_step.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace app {

/// What is kept across a restart: the configuration, the journal, and the undo history.
struct SavedState {
    config::TrainingConfig configuration;
    Journal journal;
    std::vector<UndoStep> undo; ///< oldest first
    int undone = 0;             ///< number of the last steps that are undone
};

/// Path of the file, in the user's application data.
std::filesystem::path stateFile();
/// Writes it completely or not at all.
profiler::Result<void> saveState(const SavedState& state, const std::filesystem::path& path);
/// @return nullopt if there is none yet; an error for a file that this version cannot read
profiler::Result<std::optional<SavedState>> loadState(const std::filesystem::path& path);

} // namespace app
