#pragma once

#include "advisor/experiment/program_experiment.h"

#include <nlohmann/json.hpp>

namespace advisor::cli {

/// The fields of `experiment --json`.
nlohmann::ordered_json toJson(const ExperimentResult& result);

/// The same for a program: with `program` and `patch`, and with `traceback` if the program refuses the change.
nlohmann::ordered_json toJson(const ProgramPlan& plan, const ProgramResult& result);

} // namespace advisor::cli
