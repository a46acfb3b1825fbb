#include "profiler/formats/pytorch/range_ends.h"

#include <algorithm>
#include <iterator>

namespace profiler::formats::json {

std::pair<OpenRanges::Match, std::size_t> OpenRanges::find(const RangeEnd& end) const
{
    if (m_open.empty())
        return {Match::Nothing, 0};
    const std::size_t innermost = m_open.size() - 1;
    if (!end.named || end.slice.name == m_open.back().slice.name)
        return {Match::Innermost, innermost};
    const auto last = m_open.rbegin() + std::ssize(m_open) - (isDeep() ? std::ssize(m_open) - kDeepest : 0);
    const auto found =
        std::find_if(m_open.rbegin(), last, [&](const RangeEnd& range) { return range.slice.name == end.slice.name; });
    if (found == last)
        return {Match::Other, innermost};
    return {Match::Crossed, static_cast<std::size_t>(m_open.rend() - found) - 1};
}

RangeEnd OpenRanges::close(std::size_t place, const RangeEnd& end)
{
    const auto which = m_open.begin() + static_cast<std::ptrdiff_t>(place);
    RangeEnd range = *which;
    m_open.erase(which);
    range.slice.duration = end.slice.begin - range.slice.begin;
    return range;
}

void countMatch(OpenRanges::Match match, const RangeEnd& end, Losses& losses)
{
    switch (match) {
    case OpenRanges::Match::Nothing:
        return losses.add(Loss::EndWithoutBegin, end.slice.source());
    case OpenRanges::Match::Crossed:
        return losses.add(Loss::EndsCrossed, end.slice.source());
    case OpenRanges::Match::Other:
        return losses.add(Loss::EndOfOther, end.slice.source());
    case OpenRanges::Match::Innermost:
        return;
    }
}

} // namespace profiler::formats::json
