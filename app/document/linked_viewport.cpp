#include "app/document/linked_viewport.h"

#include <algorithm>

namespace app {

using profiler::Nanoseconds;
using profiler::TimeRange;
using profiler::TraceTime;

void LinkedViewport::setRanges(TimeRange first, TimeRange second)
{
    if (m_ranges == std::array{first, second})
        return;
    m_ranges = {first, second};
    emit limitsChanged();
    follow(Side::First);
}

void LinkedViewport::setShift(Nanoseconds shift)
{
    if (shift == m_shift)
        return;
    m_shift = shift;
    emit limitsChanged();
    follow(Side::First);
    emit changed();
}

void LinkedViewport::setLocked(bool locked)
{
    if (locked == m_locked)
        return;
    m_locked = locked;
    emit limitsChanged();
    follow(Side::First);
    emit changed();
}

void LinkedViewport::move(Side side, const View& view)
{
    if (m_views[index(side)] == view)
        return;
    m_views[index(side)] = view;
    follow(side);
}

/// Moves the other timeline. The widths of the headers are always equal.
void LinkedViewport::follow(Side moved)
{
    if (!isLinked())
        return;
    const Side other = otherSide(moved);
    const View& from = m_views[index(moved)];
    View& to = m_views[index(other)];
    const View before = to;
    to.headerWidth = from.headerWidth;
    if (m_locked)
        to.visible = toOther(moved, from.visible);
    if (to != before)
        emit viewWanted(other);
}

TimeRange LinkedViewport::limits(Side side) const
{
    if (!isLinked() || !m_locked)
        return {};
    const TimeRange own = m_ranges[index(side)];
    const TimeRange other = toOther(otherSide(side), m_ranges[index(otherSide(side))]);
    return own.empty() ? other : TimeRange{std::min(own.begin, other.begin), std::max(own.end, other.end)};
}

TraceTime LinkedViewport::toOther(Side from, TraceTime time) const
{
    return from == Side::First ? time - m_shift : time + m_shift;
}

TimeRange LinkedViewport::toOther(Side from, TimeRange range) const
{
    return {toOther(from, range.begin), toOther(from, range.end)};
}

} // namespace app
