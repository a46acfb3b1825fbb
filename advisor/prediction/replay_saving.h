#pragma once

#include "advisor/chosen_work.h"
#include "advisor/rule.h"

#include <optional>

namespace advisor {

// Of the device's work, with a recorded launch: with less the replay of a device is that of the host alone.
inline constexpr double kLinkedForReplay = 0.9;

/// What two replays of the trace with some work changed save per step: the least and the most that the change may do,
/// as meanOverSteps(). No value without a steady step, or where too few launches are recorded to replay the device.
std::optional<Saving> savingByReplay(const RuleContext& c, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);
/// The same where host time of slices is changed at which a graph is not cut otherwise: operators.
/// @param cut  these slices; a graph of its own is made
std::optional<Saving> savingByReplay(const RuleContext& c, const SliceSet& cut, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);

/// The mean over the steady steps of what a replay with some work changed saves, as an upper bound: `most` is the most
/// that the change may do.
std::optional<Saving> boundByReplay(const RuleContext& c, const profiler::analysis::WhatIf& most);

} // namespace advisor
