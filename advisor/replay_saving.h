#pragma once

#include "advisor/rule.h"

#include <optional>

namespace advisor {

/// What two replays of the trace with some work changed save a step: the least and the most that the change may do,
/// with the spread over the steps. No value where the trace has no two steady steps, which would show that spread, or
/// where too few launches are known to say anything of its device.
std::optional<Saving> savingByReplay(const Case& c, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);

} // namespace advisor
