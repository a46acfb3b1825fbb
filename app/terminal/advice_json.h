#pragma once

#include "advisor/change/finding_patches.h"
#include "advisor/rule.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace app::terminal {

std::string_view stateName(advisor::State state);          ///< "fires", "silent", "cannot tell"
std::string_view objectiveName(advisor::Objective by);     ///< "time", "memory", "convergence"
std::string_view savingUnitName(advisor::SavingUnit unit); ///< "us_per_step"…
nlohmann::ordered_json savingJson(const std::optional<advisor::Saving>& saving);
nlohmann::ordered_json toggleJson(const std::optional<advisor::Toggle>& toggle);
/// The fields of `advise --json`; evidence times are relative to the start of the trace.
/// @param config configuration of the run; null: unknown
/// @param patches patches of the findings, by rule
nlohmann::ordered_json adviceJson(const profiler::Trace& trace, const std::vector<advisor::RuleAdvice>& advice,
                                  const config::TrainingConfig* config, const advisor::change::FindingPatches& patches);

} // namespace app::terminal
