#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/phases.h"
#include "profiler/model/trace.h"

namespace profiler::analysis {

/// When the thread of the steps was in phases that no mark tells, in a trace with backward passes. PyTorch's profiler
/// marks the loader, the optimizer and autograd's nodes; the rest follows from these.
struct InferredPhases {
    /// From the first to the last operator that a backward pass differentiates: autograd gives a node the sequence
    /// number of its operator. Where numbers were not recorded, from the first to the last operator of a step before
    /// its first node.
    Intervals forward;
    Intervals copy;    ///< aten::to, aten::_to_copy and aten::copy_ between a backward pass and the next forward pass
    Intervals metrics; ///< aten::item and aten::_local_scalar_dense outside of forward passes
};

/// Marked phases and autograd's own threads are left out: what they cover is in none of the three. All empty for our
/// own traces, whose phases say it, and without backward passes.
/// @param steps     in order, of the thread `track`
/// @param backward  when the thread waits for autograd, see backwardPasses()
InferredPhases inferPhases(const Trace& trace, const Phases& phases, TrackId track, const std::vector<TimeRange>& steps,
                           const Intervals& backward);

} // namespace profiler::analysis
