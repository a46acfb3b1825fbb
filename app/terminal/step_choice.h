#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace app::terminal {

/// How a command finds the steps of a trace.
enum class StepSearch {
    Automatic,  ///< marks; if the trace has none, repeated work
    Marks,      ///< marks only
    Repetition, ///< repeated work, even if there are marks
    None        ///< analyze the whole trace without steps
};

/// What a command uses as training steps.
struct StepChoice {
    std::string range; ///< NVTX ranges or annotations of this name are the steps; empty: see `search`
    StepSearch search = StepSearch::Automatic;
};

/// The value of `--steps-from`: auto, marks, repetition, none.
std::vector<std::string> stepSearchNames();
StepSearch stepSearchOf(std::string_view name);

/// Fails if the trace lacks the chosen range, or if repetition was requested but nothing repeats. Otherwise, a trace
/// without marks and without repetition has no steps.
/// @param file for the message
profiler::Result<std::vector<profiler::analysis::Step>>
chosenSteps(const profiler::Trace& trace, const StepChoice& choice, const std::filesystem::path& file);

} // namespace app::terminal
