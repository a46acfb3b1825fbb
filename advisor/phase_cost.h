#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/intervals.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace advisor {

/// What parts of the step cost it on a GPU, µs of a judged step: device work that calls inside them launched. Where the
/// devices that these calls reach idle a good part of the time, also the time inside them in which none of these had
/// anything to do, and how long the host stays in them, but no more than the devices idle: where they are busy, a full
/// queue holds the host up. Other ranks in the same trace are left out.
/// @param phases  names of profiler::phase
/// @return no value where the trace has no steps, or does not tell what those parts launched
std::optional<double> deviceUsOfPhases(const Case& c, std::initializer_list<std::string_view> phases);

/// When the host was in such parts of the judged steps, over its threads; other ranks are left out.
profiler::analysis::Intervals hostInPhases(const Case& c, std::initializer_list<std::string_view> phases);

} // namespace advisor
