#pragma once

#include <cstddef>
#include <functional>

namespace profiler {

/// Calls `work(i)` for every i below `count`, in ascending order, on up to `threads` threads including the calling one.
/// Returns when everything is done. If `work` throws, the exception is rethrown here after all threads have stopped;
/// calls that had not started by then are skipped.
void parallelFor(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

} // namespace profiler
