#pragma once

#include "advisor/change/finding_patches.h"
#include "advisor/rule.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace advisor::cli {

std::string_view stateName(State state);          ///< "fires", "silent", "cannot tell"
std::string_view objectiveName(Objective by);       ///< "time", "memory", "convergence"
std::string_view savingUnitName(SavingUnit unit); ///< "us_per_step"…
nlohmann::ordered_json savingJson(const std::optional<Saving>& saving);
nlohmann::ordered_json toggleJson(const std::optional<Toggle>& toggle);
/// The fields of `advise --json`; evidence times are relative to the start of the trace.
/// @param config configuration of the run; null: unknown
/// @param patches patches of the findings, by rule
nlohmann::ordered_json adviceJson(const profiler::Trace& trace, const std::vector<RuleAdvice>& advice,
                                  const config::TrainingConfig* config, const change::FindingPatches& patches);

} // namespace advisor::cli
