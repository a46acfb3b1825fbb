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

/// Experiments on programs that are not ours: a command against a changed one, with the design of all experiments (see
/// driver.h). What is timed are steps, validations or epochs.
namespace advisor {

/// How arm 1 differs from the user's program.
struct ProgramDifference {
    std::string how;                  ///< "source", "argument", "hook"; empty: it does not
    std::string diff;                 ///< unified, of the user's files; may be empty
    std::vector<std::string> command; ///< that runs instead; empty: the same
};

/// What is measured; change::setChanges() and its like fill it in.
struct ProgramPlan {
    ProgramSetup setup;
    ProgramDifference patch;
    std::vector<Toggle>
        changes; ///< of known knobs; empty: a diff or a command of the user's, which may affect the loss
    std::string measure = "steps"; ///< "steps", "epoch", "validation"
    bool isTimeChosen = false;     ///< judged by the time of these, whatever the changes act on
    std::optional<Saving> predicted;
    std::chrono::seconds budget{0};       ///< 0: no limit but the plan's looks
    std::chrono::milliseconds turn{1000}; ///< see ExperimentPlan
};

/// A line of a file as the changed program saw it.
struct PatchedLine {
    std::filesystem::path file;
    std::size_t line = 0; ///< from 1
    std::string text;     ///< without the blanks around it
};

struct ProgramResult {
    /// With the verdict and its reason. Refused by the program, and too short to be measured: without numbers.
    ExperimentResult measured;
    ProgramReport program;
    bool isRefused = false; ///< only the changed program fails; see program.failure
    /// Where it is refused: the first line of each file that is different from the baseline's.
    std::vector<PatchedLine> patchedLines = {};
};
/// "pays", …, "refused by the program".
std::string_view verdictName(const ProgramResult& result);

/// Measures a changed program against the unchanged one. Blocks; call from a worker thread. No file of the user changes
/// unless the isolation is *in place*, and no process is left.
/// @return an error where the baseline fails, or both do; Cancelled after `stop`
profiler::Result<ProgramResult> runProgramExperiment(const ProgramPlan& plan,
                                                     const std::function<void(const ExperimentProgress&)>& progress,
                                                     std::stop_token stop);

} // namespace advisor
