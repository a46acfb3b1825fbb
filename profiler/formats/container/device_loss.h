#pragma once

#include "profiler/model/trace.h"

namespace profiler::wire {

/// Describes how much GPU work a truncated trace lacks: the time between the end of the last recorded work and the last
/// event of the trace, on the GPU where this gap is longest. Empty if the trace has no GPU work.
Message deviceLoss(const Trace& trace);

} // namespace profiler::wire
