#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/rule.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
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

/// A patch of a recorded Python program, formatted for the commands.
namespace app::terminal {

/// {how, diff, command, measurable, …} for a patch of one change.
nlohmann::ordered_json patchJson(const advisor::change::ProgramPatch& patch);
/// [{file, line, end_line, …, what}] for all of its changes.
nlohmann::ordered_json sourceJson(const advisor::change::ProgramPatch& patch);
/// "edits /home/u/train.py:12": how a change is made, and where.
std::string howText(const advisor::change::ChangeResult& change);

} // namespace app::terminal
