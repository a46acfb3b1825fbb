#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/message.h"

#include <vector>

namespace profiler::analysis {

/// Steps that no mark tells, found because a training does the same again and again.
struct RepeatedSteps {
    std::vector<Step> steps; ///< each `found`, counted from 1; empty: see whyNot
    double confidence = 0;   ///< share of the work that is the same in each step, [0, 1]
    Message whyNot;          ///< empty where steps were found
};

/// The block (repeated_block.h) that repeats in the names of the kernels of the busiest stream; without kernels, of the
/// outermost operators of the busiest host thread. An optimizer's work over many tensors at once ends a step where
/// there is any, so the parts of an accumulated gradient are no steps. A step begins with the host's call that launched
/// its first kernel, where the trace knows it, else with that kernel, and lasts to the next one's begin; the last one
/// has as much work as a usual step, and is partial where the trace ends before. What stands before the first is in no
/// step. Layers repeat as well: blocks count only where most have what a step has and a layer has not, a batch's copy
/// to the device (scalars are no batch), a loader that is asked, or an optimizer; or at least a backward pass, unless
/// so much stands before the first block that it is one pass's layers. Where the shortest block has none of it, the
/// next longer one that has is taken. Parts, warm-up and `slice` (what the step begins with) are as in findSteps(). O(n
/// log n).
RepeatedSteps repeatedSteps(const Trace& trace);

/// Steps of a trace for which nobody said where its steps come from: its marks (findSteps()); where nothing is marked,
/// the repetition of its work. RepeatedSteps::confidence is 1 for marks.
RepeatedSteps detectSteps(const Trace& trace);

/// True where the steps were inferred from repetition: whatever states a figure per step has to say so.
bool areInferred(const std::vector<Step>& steps);

} // namespace profiler::analysis
