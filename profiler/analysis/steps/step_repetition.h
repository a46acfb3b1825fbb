#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/message.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace profiler::analysis {

/// Steps without marks, inferred from the repetition of work.
struct RepeatedSteps {
    std::vector<Step> steps; ///< each with `found`, counted from 1; empty: see whyNot
    double confidence = 0;   ///< share of the work that is the same in each step, [0, 1]
    Message whyNot;          ///< empty if steps were found
};

/// Finds the block that repeats in the kernel names of the busiest stream or, without kernels, in
/// the outermost operators of the busiest host thread. If an optimizer runs over many tensors at once, it ends a step;
/// micro-batches of gradient accumulation are therefore not steps. A step starts with the host call that launched its
/// first kernel, if known, otherwise with that kernel, and lasts until the next one starts. The last step has as much
/// work as a usual step and is partial if the trace ends earlier. Work before the first block belongs to no step.
/// Layers repeat as well, so blocks count only if most of them contain what steps have and layers do not: the copy of a
/// batch to the device (scalars are not a batch), a request to the data loader, or an optimizer. A backward pass also
/// suffices, unless so much work precedes the first block that the blocks may be the layers of one pass. If the
/// shortest block contains none of these, the next longer one that does is used. Parts, warm-up and `slice` (the first
/// slice of the step) are as in findSteps(). O(n log n).
RepeatedSteps repeatedSteps(const Trace& trace);

/// The steps of a trace whose step range was not specified: its marks (findSteps()) or, if there are none, the
/// repetition of its work. RepeatedSteps::confidence is 1 for marks.
RepeatedSteps detectSteps(const Trace& trace);

/// True if the steps were inferred from repetition. Every figure per step must then say so.
bool areInferred(const std::vector<Step>& steps);

} // namespace profiler::analysis
