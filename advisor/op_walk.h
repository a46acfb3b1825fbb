#pragma once

#include "profiler/analysis/slice_view.h"
#include "profiler/model/trace.h"

#include <vector>

namespace advisor {

/// Operators of one thread that no other operator is around, by begin: matmul holds bmm, convolution holds
/// _convolution. Ranges that hold operators are none, though old profilers record them as such.
struct ThreadOps {
    profiler::TrackId track;
    std::vector<profiler::analysis::SliceBrief> outermost;
};
/// Those of every host thread, loader workers excepted. Rules share Case::ops().
std::vector<ThreadOps> threadsOps(const profiler::Trace& trace);

} // namespace advisor
