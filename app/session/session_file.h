#pragma once

#include "app/session/session_change.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace app {

/// What of a session outlives the app: the configuration, the journal, and how it came to be.
struct KeptSession {
    config::TrainingConfig configuration;
    Journal journal;
    std::vector<SessionChange> undo; ///< oldest first
    int undone = 0;                  ///< so many of the last ones are taken back
};

/// Where the app keeps it: the user's application data.
std::filesystem::path sessionFile();
/// Writes it whole or not at all.
profiler::Result<void> saveSession(const KeptSession& session, const std::filesystem::path& path);
/// @return nullopt when there is none yet; an error for a file that this version cannot read
profiler::Result<std::optional<KeptSession>> loadSession(const std::filesystem::path& path);

} // namespace app
