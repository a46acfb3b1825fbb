#pragma once

#include "advisor/runner/workspace.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

/// Recordings that Stepscope makes for itself, before an experiment or between those of a tuning: `stepscope-cli
/// record` runs the program with its operators in a private view of the file system and stops it after some seconds, so
/// that nothing of the user's is overwritten and a training of hours costs seconds.
namespace advisor::runner {

/// Enough for the rules: a few hundred steps of an ordinary training, and short compared with an experiment.
inline constexpr std::chrono::seconds kRecordedTime{8};

struct RecordingPlan {
    std::vector<std::string> command;
    std::filesystem::path folder;         ///< working directory; absolute
    std::vector<std::string> environment; ///< NAME=VALUE, added to this process's environment
    Isolation isolation = Isolation::Overlay;
    std::vector<ReplacedFile> files; ///< that the program sees instead of the user's
    std::string hookChanges;         ///< JSON for STEPSCOPE_CHANGES; may be empty
    bool terminal = false;           ///< the program gets a pseudo-terminal
    std::filesystem::path log;       ///< what the program prints is appended to this file
    /// From the end of its first step. The program goes on until it has made twelve steps, at most ten times as long.
    std::chrono::milliseconds least = kRecordedTime;
    std::chrono::seconds startPatience{300}; ///< without output and without a step: it hangs
};

/// Records a program until it has trained for `least`, or has ended. Blocks; all its processes are gone afterwards.
/// @param trace  file that is written
/// @return an error where nothing could be recorded, with what the program printed last; Cancelled after `stop`
profiler::Result<void> recordProgram(const RecordingPlan& plan, const std::filesystem::path& trace,
                                     const std::stop_token& stop);

} // namespace advisor::runner
