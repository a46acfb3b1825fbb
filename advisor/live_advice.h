#pragma once

#include "advisor/rule.h"

#include <vector>

namespace advisor {

/// Updates the advice on a run in progress with verdicts on its last steps (adviseOnSteps()). Until the whole run is
/// analyzed again, evidence only accumulates, so that findings do not come and go with the content of the last steps:
/// "cannot tell" changes nothing, "silent" replaces "cannot tell" and an older "silent", and a finding replaces
/// anything. A finding that the last steps do not show stays unchanged. Advice whose state does not change keeps its
/// position; a new finding is inserted before the first one that is worth less.
/// @param said best first, as returned by advise()
std::vector<RuleAdvice> mergeLiveAdvice(std::vector<RuleAdvice> said, std::vector<RuleAdvice> ofLastSteps);

} // namespace advisor
