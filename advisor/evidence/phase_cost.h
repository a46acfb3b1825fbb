#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/intervals.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace advisor {

/// Cost of these phases on a GPU in µs per steady-state step, or for the whole window if there are no steps: device
/// work launched by calls in these phases, plus the time in which the devices that they use wait for the host while it
/// is in these phases. Such waits outside of the phases count as well, up to the time that the host spends in the
/// phases, because a host that launches late stays late. Other ranks in the same trace are excluded.
/// @param phases names of profiler::phase
/// @return no value if the trace does not record what was launched in these phases
std::optional<double> deviceUsOfPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// Time in µs per steady-state step, or in the whole window if there are no steps, in which devices wait for the host
/// while it is in these phases; mean over devices. For traces that do not record what was launched in the phases.
double idleUsInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// Times in which the host was in these phases during steady-state steps, over all of its threads; other ranks are
/// excluded.
profiler::analysis::Intervals hostInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

} // namespace advisor
