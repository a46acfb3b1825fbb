#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/rule.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace advisor::cli {

/// How a finding's change is made in a recorded Python program, or why it is not.
struct RulePatch {
    std::optional<change::ProgramPatch> patch; ///< of one change
    profiler::Message whyNot;
};
/// By the rule's id; rules that found nothing have none.
using RulePatches = std::map<std::string, RulePatch>;

/// The patches of all findings. A finding whose patch can be measured gets a toggle.
/// @param python  the interpreter that makes them; see change::PatcherOptions
RulePatches patchFindings(const profiler::Trace& trace, std::vector<RuleAdvice>& advice, const std::string& python);

/// {how, diff, command, measurable, …} of a patch of one change.
nlohmann::ordered_json patchJson(const change::ProgramPatch& patch);
/// [{file, line, end_line, …, what}] of all its changes.
nlohmann::ordered_json sourceJson(const change::ProgramPatch& patch);
/// A command line as a shell takes it.
std::string commandText(const std::vector<std::string>& words);
/// "source, /home/u/train.py:12": how a change is made, and where.
std::string howText(const change::ChangeResult& change);

} // namespace advisor::cli
