#pragma once

#include "profiler/model/trace.h"

#include <functional>
#include <vector>

namespace advisor {

/// Operators of one thread that no other operator is around, by begin: matmul holds bmm, convolution holds
/// _convolution. Empty for a track that is no thread.
std::vector<profiler::Slice> outermostOps(const profiler::Trace& trace, profiler::TrackId track);
/// Calls `visit` with those of every host thread, loader workers excepted.
void forEachThreadsOps(const profiler::Trace& trace,
                       const std::function<void(profiler::TrackId, const std::vector<profiler::Slice>&)>& visit);

} // namespace advisor
