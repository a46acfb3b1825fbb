#pragma once

#include "profiler/model/trace.h"

namespace profiler::wire {

/// What a trace that was cut off lacks of its GPUs, measured: how long before the trace's last event the last work that
/// is in it ended, on the GPU that is furthest behind. Empty: it has no GPU's work.
Message deviceLoss(const Trace& trace);

} // namespace profiler::wire
