#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

/// Work that a process does once: it makes the first steps of a recording slow and says nothing about later ones.
namespace profiler::analysis {

enum class OneTimeKind {
    CodeLoading, ///< kernels' code, at their first launch (lazy module loading)
    Allocation,  ///< memory that the allocator takes from the driver while it grows
    Compilation, ///< torch.compile
    FirstLaunch, ///< a launch that takes many times as long as every later one
    Autotuning   ///< a convolution that tries its library's algorithms
};

/// "loading kernels' code": a kind for readers.
std::string_view oneTimeText(OneTimeKind kind);

struct OneTimePart {
    OneTimeKind kind{};
    Intervals where;    ///< of the host's threads; no time is in two parts
    Nanoseconds time{}; ///< total(where)
    std::int64_t calls = 0;
    std::vector<SliceId> longest; ///< at most ten, longest first
};

/// The host's one-time work in the first half of `window`, most time first. A kind that takes a tenth as long or longer
/// in the second half comes back and is not one-time work. O(slices of runtime calls and of the named operators).
std::vector<OneTimePart> oneTimeWork(const Trace& trace, TimeRange window);

/// Time of all parts together.
Intervals oneTimeIntervals(const std::vector<OneTimePart>& parts);

} // namespace profiler::analysis
