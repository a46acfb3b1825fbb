#include "app/timeline/timeline_mark_commands.h"

#include "app/timeline/timeline_navigation.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <cmath>

namespace app {

using profiler::Nanoseconds;
using profiler::TraceTime;

namespace {

constexpr double kMarkReach = 5; ///< tolerance in pixels around a mark

} // namespace

TimelineMarkCommands::TimelineMarkCommands(TimelineScene& scene, TimelineNavigation& navigation,
                                           QAbstractScrollArea& area)
    : m_scene(scene), m_navigation(navigation), m_area(area)
{
}

bool TimelineMarkCommands::clearPlain()
{
    const bool any = m_scene.marks.clearPlain();
    if (any)
        m_area.viewport()->update();
    return any;
}

/// The position for keyboard actions: under the pointer, otherwise the start of the selected slice, otherwise the
/// centre.
TraceTime TimelineMarkCommands::placeMeant() const
{
    if (m_scene.pointerInside)
        return m_scene.timeAt(m_scene.pointer.x());
    if (m_scene.selected)
        return m_scene.selected->begin;
    return m_scene.axis.timeAt(m_scene.axis.width() / 2);
}

const TimelineMark* TimelineMarkCommands::markMeant() const
{
    const double reach = std::ceil(kMarkReach * m_scene.axis.nsPerPixel());
    return m_scene.marks.near(placeMeant(), Nanoseconds{static_cast<std::int64_t>(reach)});
}

void TimelineMarkCommands::toggleMark()
{
    if (m_scene.isEmpty())
        return;
    if (const TimelineMark* mark = markMeant(); mark && !mark->bookmark)
        m_scene.marks.remove(TraceTime(mark->time));
    else
        m_scene.marks.set({placeMeant(), false, {}});
    m_area.viewport()->update();
}

void TimelineMarkCommands::editBookmark()
{
    if (m_scene.isEmpty())
        return;
    const TimelineMark* mark = markMeant();
    const bool known = mark && mark->bookmark;
    emit bookmarkWanted(known ? mark->time : placeMeant(), known ? mark->note : QString());
}

void TimelineMarkCommands::removeBookmark()
{
    if (const TimelineMark* mark = m_scene.isEmpty() ? nullptr : markMeant(); mark && mark->bookmark) {
        m_scene.marks.remove(TraceTime(mark->time));
        m_area.viewport()->update();
        emit bookmarksChanged();
    }
}

void TimelineMarkCommands::setBookmark(TraceTime time, const QString& note)
{
    m_scene.marks.set({time, true, note});
    m_area.viewport()->update();
    emit bookmarksChanged();
}

void TimelineMarkCommands::setBookmarks(const std::vector<TimelineMark>& bookmarks)
{
    m_scene.marks.setBookmarks(bookmarks);
    m_area.viewport()->update();
    emit bookmarksChanged();
}

void TimelineMarkCommands::nextBookmark()
{
    if (m_scene.isEmpty())
        return;
    const TraceTime middle = m_scene.axis.timeAt(m_scene.axis.width() / 2);
    // The bookmark in the centre is the target of the last jump.
    const Nanoseconds pixel{static_cast<std::int64_t>(std::ceil(m_scene.axis.nsPerPixel()))};
    const TimelineMark* mark = m_scene.marks.nextBookmark(middle + pixel);
    if (!mark)
        mark = m_scene.marks.nextBookmark(m_scene.axis.bounds().begin - Nanoseconds{1});
    if (mark)
        m_navigation.goToTime(mark->time);
}

void TimelineMarkCommands::previousBookmark()
{
    if (m_scene.isEmpty())
        return;
    const TraceTime middle = m_scene.axis.timeAt(m_scene.axis.width() / 2);
    const Nanoseconds pixel{static_cast<std::int64_t>(std::ceil(m_scene.axis.nsPerPixel()))};
    const TimelineMark* mark = m_scene.marks.previousBookmark(middle - pixel);
    if (!mark)
        mark = m_scene.marks.previousBookmark(m_scene.axis.bounds().end + Nanoseconds{1});
    if (mark)
        m_navigation.goToTime(mark->time);
}

} // namespace app
