#pragma once

#include "advisor/chosen_work.h"
#include "advisor/rule.h"

#include <optional>

namespace advisor {

/// What two replays of the trace with some work changed save a step: the least and the most that the change may do,
/// with the spread over the steps. No value where the trace has no two steady steps, which would show that spread, or
/// where too few launches are known to say anything of its device.
std::optional<Saving> savingByReplay(const Case& c, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);
/// The same where host time of slices is changed at which a graph is not cut otherwise: operators.
/// @param cut  these slices; a graph of its own is made
std::optional<Saving> savingByReplay(const Case& c, const SliceSet& cut, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);

} // namespace advisor
