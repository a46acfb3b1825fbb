#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/experiment/program_experiment.h"
#include "advisor/tuner/tuner.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

/// Tunes a user's program: the loop of tuner.h with changes of the user's files and command line. No file of the user
/// is written; the result contains the patch.
namespace advisor {

/// Records a variant of the program for some seconds and returns its trace (runner/program_recording.h); blocks.
/// Callers provide it, because only executables read trace files.
using ProgramRecorder = std::function<profiler::Result<std::shared_ptr<const profiler::Trace>>(
    const ProgramSetup&, const ProgramVariant&, const std::stop_token&)>;

struct ProgramTunePlan {
    ProgramSetup setup; ///< as prepared by change::prepareProgram(), with a folder for logs; arm 0 is the user's
                        ///< program
    std::chrono::seconds budget{600};     ///< for the whole tuning; 0: no limit
    std::chrono::milliseconds turn{1000}; ///< see ExperimentPlan
    ProgramRecorder record;
    std::shared_ptr<const profiler::Trace> trace; ///< recording of the unchanged program; null: it is recorded first
    change::PatcherOptions patcher;               ///< as in change::ChangeRequest
};

struct ProgramTuneResult : TuneOutcome {
    std::vector<Toggle> kept;   ///< from the user's program to the best one
    change::ProgramPatch patch; ///< the patch with all of these changes; without changes if nothing was kept
    ProgramReport program;      ///< of the last experiment
};

/// Records the program, runs the rules, and measures the changes that they propose, sorted by estimated impact. Each
/// change is measured together with all kept changes against the kept changes alone. A change that pays is kept, and
/// the program is recorded again after it. Numbers of workers and batch sizes that paid are searched further.
/// A change of the batches is kept only if the loss at equal time is shown to be not worse, and a change that saves
/// memory is tried with twice the batch size. Changes of what the program learns come last, in a screening at equal
/// time; among them is a larger batch with a scaled learning rate, if the batch alone is faster but not shown to learn
/// as much. Changes that no experiment can measure are reported as skipped with the reason. At the end, the unchanged
/// program is measured against all kept changes together; part of the budget is reserved for this. Blocks; the result
/// is always the best so far, also after `stop` or at the end of the budget.
/// @param progress called on the calling thread
/// @return an error only if the unchanged program cannot be recorded
profiler::Result<ProgramTuneResult> tuneProgram(const ProgramTunePlan& plan,
                                                const std::function<void(const TuneProgress&)>& progress,
                                                std::stop_token stop);

} // namespace advisor
