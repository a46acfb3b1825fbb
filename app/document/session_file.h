#pragma once

#include "app/document/session_change.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace app {

/// The saved part of a session: the configuration, the journal, and the undo history.
struct KeptSession {
    config::TrainingConfig configuration;
    Journal journal;
    std::vector<SessionChange> undo; ///< oldest first
    int undone = 0;                  ///< number of the last steps that are undone
};

/// Path of the session file, in the user's application data.
std::filesystem::path sessionFile();
/// Writes it completely or not at all.
profiler::Result<void> saveSession(const KeptSession& session, const std::filesystem::path& path);
/// @return nullopt if there is none yet; an error for a file that this version cannot read
profiler::Result<std::optional<KeptSession>> loadSession(const std::filesystem::path& path);

} // namespace app
