#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/phases.h"

#include <string_view>

namespace profiler::analysis {

/// The times in which the steps' thread waits for a backward pass on autograd's threads, as autograd does for gradients
/// on a GPU: from the first to the last node of a pass, as long as the steps' thread records nothing in between. Empty
/// for Stepscope's own traces, whose phases provide this.
/// @param track  the track of the steps
Intervals backwardPasses(const Trace& trace, const Phases& phases, TrackId track);

/// True for the names of autograd nodes before PyTorch 1.9: "CudnnConvolutionBackward", "ReluBackward1",
/// "torch::autograd::AccumulateGrad".
bool isOldNode(std::string_view name);

} // namespace profiler::analysis
