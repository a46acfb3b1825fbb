#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace advisor::cli {

/// What a command takes for the training's steps.
struct StepChoice {
    std::string range;       ///< NVTX ranges or annotations of this name; empty: the trace's own marks
    bool repetition = false; ///< what the training repeats, marks or not
};

/// Fails where a range was chosen that the trace lacks, and where nothing repeats; a trace without marks has no steps.
/// @param file  for the message
profiler::Result<std::vector<profiler::analysis::Step>>
chosenSteps(const profiler::Trace& trace, const StepChoice& choice, const std::filesystem::path& file);

} // namespace advisor::cli
