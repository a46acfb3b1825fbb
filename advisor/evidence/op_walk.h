#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/model/trace.h"

#include <vector>

namespace advisor {

/// Operators of one thread without a parent operator, sorted by start: matmul contains bmm, convolution contains
/// _convolution. Ranges that contain operators do not count, although old profilers record them as operators.
struct ThreadOps {
    profiler::TrackId track;
    std::vector<profiler::analysis::SliceBrief> outermost;
};
/// The operators of every host thread other than loader workers. Rules share RuleContext::ops().
std::vector<ThreadOps> threadsOps(const profiler::Trace& trace);

} // namespace advisor
