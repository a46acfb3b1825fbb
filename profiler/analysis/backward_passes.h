#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/phases.h"

#include <string_view>

namespace profiler::analysis {

/// When the thread of the steps waits for a backward pass that autograd runs on threads of its own, as it does for
/// gradients on a GPU: from a pass's first node to its last, as long as the steps' thread records nothing meanwhile.
/// Empty for our own traces, whose phases say it.
/// @param track  of the steps
Intervals backwardPasses(const Trace& trace, const Phases& phases, TrackId track);

/// True for a node's name as PyTorch before 1.9 wrote it: "CudnnConvolutionBackward", "ReluBackward1",
/// "torch::autograd::AccumulateGrad".
bool isOldNode(std::string_view name);

} // namespace profiler::analysis
