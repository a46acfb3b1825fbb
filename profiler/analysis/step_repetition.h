#pragma once

#include "profiler/analysis/steps.h"

#include <string>
#include <vector>

namespace profiler::analysis {

/// Steps that no mark tells, found because a training does the same again and again.
struct RepeatedSteps {
    std::vector<Step> steps; ///< each `found`, counted from 1; empty: see whyNot
    double confidence = 0;   ///< share of the work that is the same in each step, [0, 1]
    std::string whyNot;      ///< a sentence; empty where steps were found
};

/// The block (repeated_block.h) that repeats in the names of the kernels of the busiest stream; without kernels, of the
/// outermost operators of the busiest host thread. An optimizer's work over many tensors at once ends a step where
/// there is any, so the parts of an accumulated gradient are no steps. A step begins with the host's call that launched
/// its first kernel, where the trace knows it, else with that kernel, and lasts to the next one's begin; the last one
/// has as much work as a usual step, and is partial where the trace ends before. What stands before the first is in no
/// step. One step of a model whose equal layers are nearly all of its work cannot be told from as many steps. Parts,
/// warm-up and `slice` (what the step begins with) are as in findSteps(). O(n log n).
RepeatedSteps repeatedSteps(const Trace& trace);

} // namespace profiler::analysis
