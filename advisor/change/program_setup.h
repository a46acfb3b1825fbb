#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/experiment/program_experiment.h"
#include "advisor/rule.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

/// Prepares experiments on programs: checks a command, and turns a change (settings of the recorded program, a diff, or
/// another command) into the arms of a ProgramPlan. The terminal and the app use the same steps, all of which block:
///
///     ProgramPlan plan;
///     plan.setup.arms[0].command = words;               // also folder, environment, isolation, budget, …
///     prepareProgram(plan.setup);                       // checks it; arm 1 becomes a copy of arm 0
///     setChanges(plan, *trace, {.changes = {{"loader.workers", "4"}}, .kept = {}, .advice = &advice});
///     makeLogFolder(plan.setup);                        // unless plan.setup.logs is an existing folder
///     runProgramExperiment(plan, progress, stop);
///
/// For changes that the user wrote, call setDiff() or setCommand() instead of setChanges(). plan.patch then describes
/// the difference of arm 1, for display, for JSON and for applying it.
namespace advisor::change {

/// Checks the command, the folder and the environment, and whether the isolation is possible here; finds the hooks;
/// makes arm 1 a copy of arm 0.
/// @return the first problem that would prevent the program from running
profiler::Result<void> prepareProgram(ProgramSetup& setup);

/// Creates the folder setup.logs; if that is empty, a new temporary one.
profiler::Result<void> makeLogFolder(ProgramSetup& setup);
/// Deletes the logs of an experiment or a tuning, unless it failed: then the hint of the error names their folder.
/// @param error  null after a success
void closeLogs(const ProgramSetup& setup, profiler::Error* error);

/// Records a variant of the program into a file, see runner::recordProgram().
profiler::Result<void> recordVariant(const ProgramSetup& setup, const ProgramVariant& variant,
                                     const std::filesystem::path& trace, const std::stop_token& stop);

/// The interpreter that the command names, which determines the grammar of the program; otherwise "python3".
std::string interpreterOf(const std::vector<std::string>& command);

/// Checks that a recording was made from the command: the same working directory, and the same script, module or
/// program. Arguments may differ.
/// @return an error that names the recorded program; none if the trace does not record what ran
profiler::Result<void> checkRecordingOf(const profiler::Trace& trace, const std::vector<std::string>& command,
                                        const std::filesystem::path& folder);

/// The changes that setChanges() compares.
struct ChangeRequest {
    std::vector<WantedChange> changes;               ///< changes of arm 1 only; at least one
    std::vector<WantedChange> kept;                  ///< changes of both arms
    const std::vector<RuleAdvice>* advice = nullptr; ///< advice on the trace, for the prediction; nullptr: the rules
                                                     ///< are run
    PatcherOptions patcher; ///< its `command` is ignored; `python` is interpreterOf(command) unless it is set
};
/// Sets both arms, plan.changes, plan.predicted and plan.patch. The prediction comes from the finding that proposes the
/// change, if there is a single change and the finding's saving is what the experiment measures.
/// @return an error if the trace was recorded from another program, a file has changed since, or an experiment cannot
/// measure a change
profiler::Result<void> setChanges(ProgramPlan& plan, const profiler::Trace& trace, const ChangeRequest& request);

/// Applies the changes to `variant`, which contains the user's command and files.
/// @return the patch; an error if a file differs from the recorded one
profiler::Result<ProgramPatch> setVariant(ProgramVariant& variant, const profiler::Trace& trace,
                                          const std::vector<WantedChange>& changes, PatcherOptions options);

/// Arm 1 gets the unified diff, applied to the files in the program's folder.
profiler::Result<void> setDiff(ProgramPlan& plan, std::string diff);

/// Arm 1 runs another command; the line is split like in a shell.
profiler::Result<void> setCommand(ProgramPlan& plan, const std::string& line);

/// Sets the user's choice of what to time, "steps", "epoch" or "validation", instead of what the change affects. Call
/// it after the change is set; the prediction is kept only if it is about the same quantity.
void setMeasure(ProgramPlan& plan, const std::string& measure);

} // namespace advisor::change
