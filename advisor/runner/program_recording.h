#pragma once

#include "advisor/runner/workspace.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

/// Recordings that Stepscope makes for its own use, before an experiment or during tuning: `stepscope-cli record` runs
/// the program with its operators in a private view of the file system and stops it after some seconds, so that none of
/// the user's files are overwritten, and a training run of hours costs only seconds.
namespace advisor::runner {

/// Enough for the rules: a few hundred steps of an ordinary training run, and short compared with an experiment.
inline constexpr std::chrono::seconds kRecordedTime{8};

struct RecordingPlan {
    std::vector<std::string> command;
    std::filesystem::path folder;         ///< working directory; absolute
    std::vector<std::string> environment; ///< NAME=VALUE, added to this process's environment
    Isolation isolation = Isolation::Overlay;
    std::vector<ReplacedFile> files; ///< replacements for the user's files
    std::string hookChanges;         ///< JSON for STEPSCOPE_CHANGES; may be empty
    bool terminal = false;           ///< run the program in a pseudo-terminal
    std::filesystem::path log;       ///< file to which the program's output is appended
    /// Counted from the end of its first step. The program continues until it has completed twelve steps, for at most
    /// ten times this long.
    std::chrono::milliseconds least = kRecordedTime;
    std::chrono::seconds startPatience{300}; ///< maximum time without output and without a step; after this, it counts
                                             ///< as hanging
};

/// Records a program until it has trained for `least` or has exited. Blocks; afterwards, all of its processes have
/// exited.
/// @param trace the file to write
/// @return an error with the last lines that the program printed if nothing could be recorded; Cancelled after `stop`
profiler::Result<void> recordProgram(const RecordingPlan& plan, const std::filesystem::path& trace,
                                     const std::stop_token& stop);

} // namespace advisor::runner
