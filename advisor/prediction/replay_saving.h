#pragma once

#include "advisor/evidence/chosen_work.h"
#include "advisor/rule.h"

#include <optional>

namespace advisor {

// Minimum share of device work with a recorded launch: below it, a replay would reflect only the host.
inline constexpr double kLinkedForReplay = 0.9;

/// The saving per step from two replays of the trace with some work changed, with the least and the greatest effect
/// that the change may have, combined by meanOverSteps(). No value without steady steps, or if too few launches are
/// recorded to replay the device.
std::optional<Saving> savingByReplay(const RuleContext& c, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);
/// The same for changes of host time within slices at which the graph is not cut by default, such as operators.
/// @param cut these slices; a separate graph is built
std::optional<Saving> savingByReplay(const RuleContext& c, const SliceSet& cut, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);

/// The mean saving over the steady steps from a replay with some work changed, as an upper bound: `most` is the
/// greatest effect that the change may have.
std::optional<Saving> boundByReplay(const RuleContext& c, const profiler::analysis::WhatIf& most);

} // namespace advisor
