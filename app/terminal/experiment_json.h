#pragma once

#include "advisor/experiment/program_experiment.h"

#include <nlohmann/json.hpp>

namespace app::terminal {

/// The fields of `experiment --json`.
nlohmann::ordered_json toJson(const advisor::ExperimentResult& result);

/// The same for a program: with `program` and `patch`, and with `traceback` if the program refuses the change.
nlohmann::ordered_json toJson(const advisor::ProgramPlan& plan, const advisor::ProgramResult& result);

} // namespace app::terminal
