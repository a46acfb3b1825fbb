#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/experiment/program_experiment.h"
#include "advisor/tuner/tuner.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

/// Tuning of a program that is not ours: the loop of tuner.h, with changes of the user's own files and command line.
/// Nothing of the user's is written; the result holds the patch.
namespace advisor {

/// Records a variant of the program for some seconds and gives its trace (runner/program_recording.h); blocks. Callers
/// provide it, since only programs read trace files.
using ProgramRecorder = std::function<profiler::Result<std::shared_ptr<const profiler::Trace>>(
    const ProgramSetup&, const ProgramVariant&, const std::stop_token&)>;

struct ProgramTunePlan {
    ProgramSetup setup; ///< as change::prepareProgram() leaves it, with a folder for logs; arm 0 is the user's program
    std::chrono::seconds budget{600};     ///< of everything together; 0: no limit
    std::chrono::milliseconds turn{1000}; ///< see ExperimentPlan
    ProgramRecorder record;
    std::shared_ptr<const profiler::Trace> trace; ///< recording of the unchanged program; null: it is recorded first
    change::PatcherOptions patcher;               ///< as change::ChangeRequest has it
};

struct ProgramTuneResult : TuneOutcome {
    std::vector<Toggle> kept;   ///< from the user's program to the best one
    change::ProgramPatch patch; ///< that makes all of them; without changes where nothing was kept
    ProgramReport program;      ///< of the last experiment
};

/// Records the program, asks the rules, and measures the changes that they propose in order of their worth, each with
/// all that were kept before against these. What pays is kept, and the program is recorded anew after it. Numbers of
/// workers that paid are searched further. Changes that no experiment can measure are reported as skipped with the
/// reason; so are those of the batches, since what they do to the learning is not measured with a program. At the end
/// the unchanged program is measured against all kept changes together, for which a part of the budget is kept. Blocks;
/// the best so far is always the result, also after `stop` or at the end of the budget.
/// @param progress  called on the calling thread
/// @return an error only where the unchanged program cannot be recorded
profiler::Result<ProgramTuneResult> tuneProgram(const ProgramTunePlan& plan,
                                                const std::function<void(const TuneProgress&)>& progress,
                                                std::stop_token stop);

} // namespace advisor
