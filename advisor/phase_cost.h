#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/intervals.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace advisor {

/// What parts of the step cost it on a GPU, µs of a judged step, without steps of the whole window: device work that
/// calls inside them launched, and the time in which the devices that these calls reach wait for the host while it is
/// in them. Such waits elsewhere count as well, up to the time that the host spends in these parts: a host that
/// launches late stays late. Other ranks in the same trace are left out.
/// @param phases  names of profiler::phase
/// @return no value where the trace does not record what those parts launched
std::optional<double> deviceUsOfPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// µs of a judged step, without steps of the whole window, in which devices wait for the host while it is in such
/// parts; a mean over the devices. For traces that do not record what those parts launched.
double idleUsInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// When the host was in such parts of the judged steps, over its threads; other ranks are left out.
profiler::analysis::Intervals hostInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

} // namespace advisor
