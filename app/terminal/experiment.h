#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/experiment/program_experiment.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace app::terminal {

/// The fields of `experiment --json`.
nlohmann::ordered_json toJson(const advisor::ExperimentResult& result);

/// The same for a program: with `program` and `patch`, and with `traceback` if the program refuses the change.
nlohmann::ordered_json toJson(const advisor::ProgramPlan& plan, const advisor::ProgramResult& result);

} // namespace app::terminal

/// The text output of `experiment`.
namespace app::terminal {

/// One line about the current activity.
void printProgress(const advisor::ExperimentProgress& progress, std::ostream& err);
/// The verdict and its numbers, with a line for each changed setting.
void printResult(const advisor::ExperimentResult& result, std::ostream& out);

} // namespace app::terminal
