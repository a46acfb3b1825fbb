#pragma once

#include "advisor/experiment/program_experiment.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace advisor::cli {

/// The fields of `experiment --json`.
nlohmann::ordered_json toJson(const ExperimentResult& result);

/// How arm B of a program differs from arm A.
struct ProgramPatch {
    std::string how;                  ///< "source", "argument", "hook"
    std::string diff;                 ///< of the user's files; may be empty
    std::vector<std::string> command; ///< that runs instead; empty: the same
};
/// The same for a program: with `program` and `patch`, and `traceback` where the program refuses the change.
nlohmann::ordered_json toJson(const ProgramPlan& plan, const ProgramPatch& patch, const ProgramResult& result);

} // namespace advisor::cli
