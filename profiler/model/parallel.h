#pragma once

#include <cstddef>
#include <functional>

namespace profiler {

/// Calls `work(i)` for every i below `count`, small ones first, on as many as `threads` threads, this one included.
/// Returns when all is done. An exception that `work` throws is thrown again here, once no thread works any more; what
/// was not begun by then is left out.
void parallelFor(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

} // namespace profiler
