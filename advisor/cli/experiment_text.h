#pragma once

#include "advisor/experiment/experiment.h"

#include <ostream>

/// What `experiment` prints for people.
namespace advisor::cli {

/// One line about what happens now.
void printProgress(const ExperimentProgress& progress, std::ostream& err);
/// The verdict and its numbers, with a line for each changed setting.
void printResult(const ExperimentResult& result, std::ostream& out);

} // namespace advisor::cli
