#include "profiler/analysis/intervals.h"

#include <algorithm>

namespace profiler::analysis {

Intervals unite(std::vector<TimeRange> ranges)
{
    std::erase_if(ranges, [](TimeRange range) { return range.empty(); });
    std::sort(ranges.begin(), ranges.end(), [](TimeRange a, TimeRange b) { return a.begin < b.begin; });
    Intervals united;
    for (const TimeRange range : ranges) {
        if (!united.empty() && range.begin <= united.back().end)
            united.back().end = std::max(united.back().end, range.end);
        else
            united.push_back(range);
    }
    return united;
}

Intervals unite(Intervals a, Intervals b)
{
    if (a.empty())
        return b;
    if (b.empty())
        return a;
    Intervals united;
    united.reserve(a.size() + b.size());
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool fromA = j == b.size() || (i < a.size() && a[i].begin <= b[j].begin);
        const TimeRange range = fromA ? a[i++] : b[j++];
        if (!united.empty() && range.begin <= united.back().end)
            united.back().end = std::max(united.back().end, range.end);
        else
            united.push_back(range);
    }
    return united;
}

Intervals UnionBuilder::take()
{
    Intervals united = m_sorted ? std::move(m_ranges) : unite(std::move(m_ranges));
    m_ranges = {};
    m_sorted = true;
    return united;
}

void UnionBuilder::append(TimeRange range)
{
    m_sorted = m_sorted && (m_ranges.empty() || range.begin > m_ranges.back().end);
    m_ranges.push_back(range);
}

Intervals intersect(std::span<const TimeRange> a, std::span<const TimeRange> b)
{
    Intervals both;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i].overlaps(b[j]))
            both.push_back(a[i].clippedTo(b[j]));
        if (a[i].end < b[j].end)
            ++i;
        else
            ++j;
    }
    return both;
}

Intervals subtract(std::span<const TimeRange> a, std::span<const TimeRange> b)
{
    Intervals rest;
    std::size_t j = 0;
    for (TimeRange range : a) {
        while (j < b.size() && b[j].end <= range.begin)
            ++j;
        for (std::size_t k = j; k < b.size() && b[k].begin < range.end; ++k) {
            if (b[k].begin > range.begin)
                rest.push_back({range.begin, b[k].begin});
            range.begin = std::max(range.begin, b[k].end);
        }
        if (!range.empty())
            rest.push_back(range);
    }
    return rest;
}

std::span<const TimeRange> overlapping(std::span<const TimeRange> set, TimeRange range)
{
    const auto first = std::upper_bound(set.begin(), set.end(), range.begin,
                                        [](TraceTime time, TimeRange some) { return time < some.end; });
    const auto last =
        std::lower_bound(first, set.end(), range.end, [](TimeRange some, TraceTime time) { return some.begin < time; });
    return set.subspan(static_cast<std::size_t>(first - set.begin()), static_cast<std::size_t>(last - first));
}

Nanoseconds total(std::span<const TimeRange> set)
{
    Nanoseconds sum{0};
    for (const TimeRange range : set)
        sum += range.duration();
    return sum;
}

} // namespace profiler::analysis
