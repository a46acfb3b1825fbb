#pragma once

#include "profiler/model/clock.h"

#include <span>
#include <vector>

namespace profiler::analysis {

/// Sets of trace time: sorted, disjoint, not touching, none empty.
using Intervals = std::vector<TimeRange>;

/// The union of any ranges; empty ones vanish. O(n log n).
Intervals unite(std::vector<TimeRange> ranges);
/// The union of two sets. O(n + m).
Intervals unite(Intervals a, Intervals b);
/// What both sets hold. O(n + m).
Intervals intersect(std::span<const TimeRange> a, std::span<const TimeRange> b);
/// What `a` holds and `b` does not. O(n + m).
Intervals subtract(std::span<const TimeRange> a, std::span<const TimeRange> b);
/// Those of a set that overlap `range`, whole. O(log n).
std::span<const TimeRange> overlapping(std::span<const TimeRange> set, TimeRange range);
/// Time that a set covers.
Nanoseconds total(std::span<const TimeRange> set);

/// Makes a union of ranges as they come: in the order of their begins, as slices of a track do, it costs O(1) each and
/// holds only what does not touch; in any other order they are sorted at the end.
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
    /// The union; the builder is empty afterwards.
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
