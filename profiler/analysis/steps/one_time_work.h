#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

/// Work that a process does once. It makes the first steps of a recording slow and is irrelevant for later steps.
namespace profiler::analysis {

enum class OneTimeKind {
    CodeLoading, ///< loading of kernel code at the first launch (lazy module loading)
    Allocation,  ///< memory that the allocator requests from the driver while it grows
    Compilation, ///< torch.compile
    FirstLaunch, ///< a launch that takes many times longer than every later one
    Autotuning   ///< a convolution that tries the algorithms of its library
};

/// The name of a kind for users: "loading kernel code".
std::string_view oneTimeText(OneTimeKind kind);

struct OneTimePart {
    OneTimeKind kind{};
    Intervals where;    ///< on the host threads; the parts do not overlap
    Nanoseconds time{}; ///< total(where)
    std::int64_t calls = 0;
    std::vector<SliceId> longest; ///< at most ten, longest first
};

/// The host's one-time work in the first half of `window`, longest first. If a kind takes at least a tenth as long in
/// the second half, it recurs and is not one-time work. O(slices of runtime calls and of the named operators).
std::vector<OneTimePart> oneTimeWork(const Trace& trace, TimeRange window);

/// The union of all parts.
Intervals oneTimeIntervals(const std::vector<OneTimePart>& parts);

} // namespace profiler::analysis
