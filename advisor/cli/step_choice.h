#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace advisor::cli {

/// Where a command looks for the steps of a trace.
enum class StepSearch {
    Automatic,  ///< marks; where the trace has none, repeated work
    Marks,      ///< marks only
    Repetition, ///< repeated work, also where there are marks
    None        ///< the whole trace is judged without steps
};

/// What a command takes for the training's steps.
struct StepChoice {
    std::string range; ///< NVTX ranges or annotations of this name are the steps; empty: see `search`
    StepSearch search = StepSearch::Automatic;
};

/// The search that `--steps-from` names: auto, marks, repetition, none.
std::vector<std::string> stepSearchNames();
StepSearch stepSearchOf(std::string_view name);

/// Fails where a range was chosen that the trace lacks, and where repetition was asked for and nothing repeats. Without
/// either, a trace without marks and without repetition has no steps.
/// @param file  for the message
profiler::Result<std::vector<profiler::analysis::Step>>
chosenSteps(const profiler::Trace& trace, const StepChoice& choice, const std::filesystem::path& file);

} // namespace advisor::cli
