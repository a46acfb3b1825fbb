#include "app/timeline/timeline_canvas.h"

#include <cmath>

// User actions on marks and bookmarks.
namespace app {

using profiler::Nanoseconds;
using profiler::TraceTime;

namespace {

constexpr double kMarkReach = 5; ///< tolerance in pixels around a mark

} // namespace

/// The position for keyboard actions: under the pointer, otherwise the start of the selected slice, otherwise the
/// centre.
TraceTime TimelineCanvas::placeMeant() const
{
    if (m_scene.pointerInside)
        return m_scene.timeAt(m_scene.pointer.x());
    if (m_scene.selected)
        return m_scene.selected->begin;
    return m_scene.axis.timeAt(m_scene.axis.width() / 2);
}

const TimelineMark* TimelineCanvas::markMeant() const
{
    const double reach = std::ceil(kMarkReach * m_scene.axis.nsPerPixel());
    return m_scene.marks.near(placeMeant(), Nanoseconds{static_cast<std::int64_t>(reach)});
}

void TimelineCanvas::toggleMark()
{
    if (isEmpty())
        return;
    if (const TimelineMark* mark = markMeant(); mark && !mark->bookmark)
        m_scene.marks.remove(TraceTime(mark->time));
    else
        m_scene.marks.set({placeMeant(), false, {}});
    viewport()->update();
}

void TimelineCanvas::editBookmark()
{
    if (isEmpty())
        return;
    const TimelineMark* mark = markMeant();
    const bool known = mark && mark->bookmark;
    emit bookmarkWanted(known ? mark->time : placeMeant(), known ? mark->note : QString());
}

void TimelineCanvas::removeBookmark()
{
    if (const TimelineMark* mark = isEmpty() ? nullptr : markMeant(); mark && mark->bookmark) {
        m_scene.marks.remove(TraceTime(mark->time));
        viewport()->update();
        emit bookmarksChanged();
    }
}

void TimelineCanvas::setBookmark(TraceTime time, const QString& note)
{
    m_scene.marks.set({time, true, note});
    viewport()->update();
    emit bookmarksChanged();
}

void TimelineCanvas::setBookmarks(const std::vector<TimelineMark>& bookmarks)
{
    m_scene.marks.setBookmarks(bookmarks);
    viewport()->update();
    emit bookmarksChanged();
}

void TimelineCanvas::goToTime(TraceTime time)
{
    if (isEmpty())
        return;
    setFollow(false);
    m_scene.axis.place(time, m_scene.axis.width() / 2);
    moved();
}

void TimelineCanvas::nextBookmark()
{
    if (isEmpty())
        return;
    const TraceTime middle = m_scene.axis.timeAt(m_scene.axis.width() / 2);
    // The bookmark in the centre is the target of the last jump.
    const Nanoseconds pixel{static_cast<std::int64_t>(std::ceil(m_scene.axis.nsPerPixel()))};
    const TimelineMark* mark = m_scene.marks.nextBookmark(middle + pixel);
    if (!mark)
        mark = m_scene.marks.nextBookmark(m_scene.axis.bounds().begin - Nanoseconds{1});
    if (mark)
        goToTime(mark->time);
}

void TimelineCanvas::previousBookmark()
{
    if (isEmpty())
        return;
    const TraceTime middle = m_scene.axis.timeAt(m_scene.axis.width() / 2);
    const Nanoseconds pixel{static_cast<std::int64_t>(std::ceil(m_scene.axis.nsPerPixel()))};
    const TimelineMark* mark = m_scene.marks.previousBookmark(middle - pixel);
    if (!mark)
        mark = m_scene.marks.previousBookmark(m_scene.axis.bounds().end + Nanoseconds{1});
    if (mark)
        goToTime(mark->time);
}

} // namespace app
