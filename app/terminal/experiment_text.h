#pragma once

#include "advisor/experiment/experiment.h"

#include <ostream>

/// The text output of `experiment`.
namespace advisor::cli {

/// One line about the current activity.
void printProgress(const ExperimentProgress& progress, std::ostream& err);
/// The verdict and its numbers, with a line for each changed setting.
void printResult(const ExperimentResult& result, std::ostream& out);

} // namespace advisor::cli
