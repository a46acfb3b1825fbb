#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/model/trace.h"

namespace profiler::analysis {

/// The times in which the steps' thread was in phases without marks, in a trace with backward passes. PyTorch's
/// profiler marks the loader, the optimizer and autograd's nodes; the other phases follow from these.
struct InferredPhases {
    /// From the first to the last operator of which a backward pass computes gradients: autograd gives a node the
    /// sequence number of its operator. If numbers were not recorded: from the first to the last operator of a step
    /// before its first node.
    Intervals forward;
    Intervals copy;    ///< aten::to, aten::_to_copy and aten::copy_ between a backward pass and the next forward pass
    Intervals metrics; ///< aten::item and aten::_local_scalar_dense outside of forward passes
};

/// Excludes marked phases and the times of autograd's own threads. All are empty for Stepscope's own traces, whose
/// phases provide this, and for traces without backward passes.
/// @param steps     in order, of the thread `track`
/// @param backward  times in which the thread waits for autograd, see backwardPasses()
InferredPhases inferPhases(const Trace& trace, const Phases& phases, TrackId track, const std::vector<TimeRange>& steps,
                           const Intervals& backward);

} // namespace profiler::analysis
