#pragma once

#include "profiler/model/clock.h"

#include <span>
#include <vector>

namespace profiler::analysis {

/// Sets of trace time: sorted, disjoint, not touching, none empty.
using Intervals = std::vector<TimeRange>;

/// The union of any ranges; empty ones vanish. O(n log n).
Intervals unite(std::vector<TimeRange> ranges);
/// What both sets hold. O(n + m).
Intervals intersect(std::span<const TimeRange> a, std::span<const TimeRange> b);
/// What `a` holds and `b` does not. O(n + m).
Intervals subtract(std::span<const TimeRange> a, std::span<const TimeRange> b);
/// Time that a set covers.
Nanoseconds total(std::span<const TimeRange> set);

/// µs of a duration.
constexpr double toUs(Nanoseconds duration)
{
    return static_cast<double>(duration.count()) / 1000.0;
}

} // namespace profiler::analysis
