#pragma once

#include "advisor/experiment/experiment.h"

#include <ostream>

/// The text output of `experiment`.
namespace app::terminal {

/// One line about the current activity.
void printProgress(const advisor::ExperimentProgress& progress, std::ostream& err);
/// The verdict and its numbers, with a line for each changed setting.
void printResult(const advisor::ExperimentResult& result, std::ostream& out);

} // namespace app::terminal
