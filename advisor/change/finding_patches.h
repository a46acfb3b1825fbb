#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/rule.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// The patches for the advice on a recorded Python program. Every program that shows findings calls patchFindings()
/// after advise(): a finding whose change can be measured with the program then has a toggle.
namespace advisor::change {

/// The patch of a finding's change, or why there is none.
struct FindingPatch {
    std::optional<ProgramPatch> patch; ///< of one change
    profiler::Message whyNot;
};
/// By rule id. A rule that does not fire has an empty entry.
using FindingPatches = std::map<std::string, FindingPatch>;

/// Creates the patches of all findings and sets `toggle` of those that an experiment can measure. Runs the patcher once
/// and reads the user's files; call it from a worker thread.
/// @param options `command` is the command to change; empty: the recorded one
FindingPatches patchFindings(const profiler::Trace& trace, std::vector<RuleAdvice>& advice,
                             const PatcherOptions& options = {});

} // namespace advisor::change
