#pragma once

#include "profiler/analysis/difference/step_difference.h"
#include "profiler/analysis/difference/step_match.h"

#include <nlohmann/json.hpp>
#include <string>

namespace app::terminal {

/// The output of `diff --step`.
nlohmann::ordered_json toJson(const profiler::analysis::StepDifference& difference,
                              profiler::analysis::StepMatch::By matched);
std::string toText(const profiler::analysis::StepDifference& difference);

} // namespace app::terminal
