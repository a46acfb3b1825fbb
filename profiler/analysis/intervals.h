#pragma once

#include "profiler/model/clock.h"

#include <span>
#include <vector>

namespace profiler::analysis {

/// Sets of trace time: sorted, disjoint, not touching, without empty ranges.
using Intervals = std::vector<TimeRange>;

/// The union of arbitrary ranges; empty ranges are dropped. O(n log n).
Intervals unite(std::vector<TimeRange> ranges);
/// The union of two sets. O(n + m).
Intervals unite(Intervals a, Intervals b);
/// The intersection of two sets. O(n + m).
Intervals intersect(std::span<const TimeRange> a, std::span<const TimeRange> b);
/// The difference of two sets: `a` without `b`. O(n + m).
Intervals subtract(std::span<const TimeRange> a, std::span<const TimeRange> b);
/// The elements of a set that overlap `range`, not clipped. O(log n).
std::span<const TimeRange> overlapping(std::span<const TimeRange> set, TimeRange range);
/// The total duration of a set.
Nanoseconds total(std::span<const TimeRange> set);

/// Builds a union incrementally. If ranges arrive by start, like the slices of a track, each costs O(1), and only
/// disjoint ranges are stored. Otherwise, the ranges are sorted at the end.
class UnionBuilder {
public:
    void add(TimeRange range)
    {
        if (range.empty())
            return;
        if (!m_ranges.empty() && range.begin <= m_ranges.back().end && range.begin >= m_ranges.back().begin)
            m_ranges.back().end = range.end > m_ranges.back().end ? range.end : m_ranges.back().end;
        else
            append(range);
    }
    /// Returns the union and clears the builder.
    [[nodiscard]] Intervals take();

private:
    void append(TimeRange range);
    std::vector<TimeRange> m_ranges;
    bool m_sorted = true;
};

/// µs of a duration.
constexpr double toUs(Nanoseconds duration)
{
    return static_cast<double>(duration.count()) / 1000.0;
}

} // namespace profiler::analysis
