#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/phases.h"

namespace profiler::analysis {

/// When the thread of the steps waits for a backward pass that autograd runs on threads of its own, as it does for
/// gradients on a GPU: from a pass's first node to its last, as long as the steps' thread records nothing meanwhile.
/// Empty for our own traces, whose phases say it.
/// @param track  of the steps
Intervals backwardPasses(const Trace& trace, const Phases& phases, TrackId track);

} // namespace profiler::analysis
