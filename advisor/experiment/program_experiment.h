#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/experiment/program_arm.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Experiments on programs other than our trainer: a command against a modified one, with the design of all experiments
/// (see driver.h). Steps, validations or epochs are timed.
namespace advisor {

/// The difference between arm 1 and the user's program.
struct ProgramDifference {
    std::string how;                  ///< "source", "argument", "hook"; empty: no difference
    std::string diff;                 ///< unified diff of the user's files; may be empty
    std::vector<std::string> command; ///< the command to run instead; empty: the same command
};

/// What is measured; filled in by change::setChanges() and similar functions.
struct ProgramPlan {
    ProgramSetup setup;
    ProgramDifference patch;
    std::vector<Toggle>
        changes; ///< changes of known knobs; empty: the user's diff or command, which may affect the loss
    std::string measure = "steps"; ///< "steps", "epoch", "validation"
    bool isTimeChosen = false;     ///< use the time of these units as the objective, whatever the changes affect
    std::optional<Saving> predicted;
    std::chrono::seconds budget{0};       ///< 0: no limit except the planned looks
    std::chrono::milliseconds turn{1000}; ///< see ExperimentPlan
    std::chrono::milliseconds horizon{0}; ///< see ExperimentPlan: how long each arm trains
};

/// A line of a file as the modified program saw it.
struct PatchedLine {
    std::filesystem::path file;
    std::size_t line = 0; ///< starting at 1
    std::string text;     ///< without leading and trailing white space
};

struct ProgramResult {
    /// With the verdict and its reason. If the program refuses the change or is too short to be measured, there are no
    /// numbers.
    ExperimentResult measured;
    ProgramReport program;
    bool isRefused = false; ///< only the modified program fails; see program.failure
    /// If it is refused: the first line of each file that differs from the baseline's.
    std::vector<PatchedLine> patchedLines = {};
};
/// "pays", …, "refused by the program".
std::string_view verdictName(const ProgramResult& result);

/// Measures a modified program against the unmodified one. Blocks; call it from a worker thread. No file of the user
/// changes unless the isolation is *in place*, and no process remains.
/// @return an error if the baseline or both programs fail; Cancelled after `stop`
profiler::Result<ProgramResult> runProgramExperiment(const ProgramPlan& plan,
                                                     const std::function<void(const ExperimentProgress&)>& progress,
                                                     std::stop_token stop);

} // namespace advisor
