#pragma once

#include "advisor/rule.h"

#include <vector>

namespace advisor {

/// What is said of a run that goes on: what was said so far, brought up to date by verdicts on its last steps
/// (adviseOnSteps()). Until the whole run is looked at anew, evidence only adds up, so that nothing comes and goes with
/// what the last steps happen to hold: "cannot tell" changes nothing, "silent" takes the place of "cannot tell" and of
/// an older "silent", a finding takes any place. A finding that the last steps do not show stays as it was.
/// What stays in its state keeps its place, too; a new finding goes before the first that is worth less.
/// @param said  best first, as advise() has it
std::vector<RuleAdvice> mergeLiveAdvice(std::vector<RuleAdvice> said, std::vector<RuleAdvice> ofLastSteps);

} // namespace advisor
