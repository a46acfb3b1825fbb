#include "app/timeline/timeline_marks.h"

#include <algorithm>

namespace app {

using profiler::Nanoseconds;
using profiler::TraceTime;

std::vector<TimelineMark> TimelineMarks::bookmarks() const
{
    std::vector<TimelineMark> found;
    std::copy_if(m_marks.begin(), m_marks.end(), std::back_inserter(found), [](const auto& m) { return m.bookmark; });
    return found;
}

void TimelineMarks::setBookmarks(const std::vector<TimelineMark>& bookmarks)
{
    std::erase_if(m_marks, [](const TimelineMark& mark) { return mark.bookmark; });
    for (TimelineMark mark : bookmarks) {
        mark.bookmark = true;
        set(mark);
    }
}

const TimelineMark* TimelineMarks::near(TraceTime time, Nanoseconds reach) const
{
    const TimelineMark* best = nullptr;
    const auto distance = [time](const TimelineMark& m) { return m.time < time ? time - m.time : m.time - time; };
    for (const TimelineMark& mark : m_marks)
        if (distance(mark) <= reach && (!best || distance(mark) < distance(*best)))
            best = &mark;
    return best;
}

const TimelineMark* TimelineMarks::nextBookmark(TraceTime after) const
{
    const auto found =
        std::find_if(m_marks.begin(), m_marks.end(), [&](const auto& m) { return m.bookmark && m.time > after; });
    return found == m_marks.end() ? nullptr : &*found;
}

const TimelineMark* TimelineMarks::previousBookmark(TraceTime before) const
{
    const auto found =
        std::find_if(m_marks.rbegin(), m_marks.rend(), [&](const auto& m) { return m.bookmark && m.time < before; });
    return found == m_marks.rend() ? nullptr : &*found;
}

void TimelineMarks::set(const TimelineMark& mark)
{
    remove(mark.time);
    const auto after = std::upper_bound(m_marks.begin(), m_marks.end(), mark.time,
                                        [](TraceTime time, const TimelineMark& m) { return time < m.time; });
    m_marks.insert(after, mark);
    if (!mark.bookmark)
        m_origin = mark.time;
}

void TimelineMarks::remove(TraceTime time)
{
    std::erase_if(m_marks, [time](const TimelineMark& mark) { return mark.time == time; });
    if (m_origin == time) {
        m_origin.reset();
        for (const TimelineMark& mark : m_marks)
            if (!mark.bookmark)
                m_origin = mark.time;
    }
}

bool TimelineMarks::clearPlain()
{
    m_origin.reset();
    return std::erase_if(m_marks, [](const TimelineMark& mark) { return !mark.bookmark; }) > 0;
}

void TimelineMarks::clear()
{
    m_marks.clear();
    m_origin.reset();
}

} // namespace app
