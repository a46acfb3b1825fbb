#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/experiment/program_experiment.h"
#include "advisor/rule.h"

#include <filesystem>
#include <string>
#include <vector>

/// Prepares experiments on programs: checks a command, and turns a change (settings of the recorded program, a diff, or
/// another command) into the arms of a ProgramPlan. The terminal and the app do the same steps, all of which block:
///
///     ProgramPlan plan;
///     plan.setup.arms[0].command = words;               // also folder, environment, isolation, budget, …
///     prepareProgram(plan.setup);                       // can it run here? Arm 1 becomes a copy of arm 0
///     setChanges(plan, *trace, {.changes = {{"loader.workers", "4"}}, .kept = {}, .advice = &advice});
///     makeLogFolder(plan.setup);                        // unless plan.setup.logs names a folder that exists
///     runProgramExperiment(plan, progress, stop);
///
/// setDiff() or setCommand() take the place of setChanges() for changes that the user wrote. plan.patch then says what
/// arm 1 has different, for display, for JSON and for applying it.
namespace advisor::change {

/// Checks the command, the folder and the environment, and whether the isolation is possible here; finds the hooks;
/// makes arm 1 a copy of arm 0.
/// @return the first thing that would keep the program from running
profiler::Result<void> prepareProgram(ProgramSetup& setup);

/// Makes the folder setup.logs; where that is empty, a new temporary one.
profiler::Result<void> makeLogFolder(ProgramSetup& setup);

/// The interpreter that the command names, whose grammar is the program's; else "python3".
std::string interpreterOf(const std::vector<std::string>& command);

/// Whether a recording is of the command: the same working directory, and the same script, module or program. Arguments
/// may differ.
/// @return an error that names what was recorded instead; none where the trace does not say what ran
profiler::Result<void> checkRecordingOf(const profiler::Trace& trace, const std::vector<std::string>& command,
                                        const std::filesystem::path& folder);

/// What setChanges() compares.
struct ChangeRequest {
    std::vector<WantedChange> changes;               ///< that only arm 1 has; at least one
    std::vector<WantedChange> kept;                  ///< that both arms have
    const std::vector<RuleAdvice>* advice = nullptr; ///< on the trace, for the prediction; nullptr: rules are asked
    PatcherOptions patcher; ///< its `command` is ignored; `python` is interpreterOf(command) unless it is set
};
/// Sets both arms, plan.changes, plan.predicted and plan.patch. The prediction is that of the finding that proposes the
/// change, where a single one is measured and the finding saves what the experiment measures.
/// @return an error where the trace is of another program, a file has changed since, or an experiment cannot measure a
///         change
profiler::Result<void> setChanges(ProgramPlan& plan, const profiler::Trace& trace, const ChangeRequest& request);

/// Makes `variant`, which runs the user's command and files, the program with those changes.
/// @return the patch; an error where a file is not as it was recorded
profiler::Result<ProgramPatch> setVariant(ProgramVariant& variant, const profiler::Trace& trace,
                                          const std::vector<WantedChange>& changes, PatcherOptions options);

/// Arm 1 has the unified diff applied to the files below the program's folder.
profiler::Result<void> setDiff(ProgramPlan& plan, std::string diff);

/// Arm 1 runs another command, as a shell reads the line.
profiler::Result<void> setCommand(ProgramPlan& plan, const std::string& line);

/// The user chose what is timed, instead of what the change acts on: "steps", "epoch" or "validation". Comes after what
/// sets the change, whose prediction stays only where it is about the same.
void setMeasure(ProgramPlan& plan, const std::string& measure);

} // namespace advisor::change
