#include "app/timeline/timeline_commands.h"

#include "app/tables/slice_details.h"
#include "app/timeline/slice_search.h"
#include "app/timeline/timeline_navigation.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QAccessible>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::SliceId;
using profiler::TimeRange;
using profiler::TraceTime;

namespace {

constexpr double kMarkReach = 5; ///< tolerance in pixels around a mark

} // namespace

TimelineSelection::TimelineSelection(TimelineScene& scene, TimelineNavigation& navigation, QAbstractScrollArea& area)
    : m_scene(scene), m_navigation(navigation), m_area(area)
{
}

void TimelineSelection::setSlice(std::optional<SliceId> id)
{
    m_scene.selected.reset();
    m_scene.several.clear();
    m_scene.flows.clear();
    if (id && m_scene.trace && holds(*m_scene.trace, *id)) {
        m_scene.selected = m_scene.trace->slice(*id);
        m_scene.flows = flowsAround(*m_scene.trace, *m_scene.selected);
        m_scene.currentRow = m_scene.rows.rowOf(id->track);
        m_area.setAccessibleDescription(sliceSentence(*m_scene.trace, *m_scene.selected));
    } else {
        m_area.setAccessibleDescription({});
    }
    QAccessibleEvent changed(&m_area, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
    m_area.viewport()->update();
}

void TimelineSelection::setSlices(const std::vector<SliceId>& slices)
{
    if (slices.size() < 2)
        return setSlice(slices.empty() ? std::nullopt : std::optional(slices.front()));
    setSlice({});
    for (const SliceId id : slices)
        if (m_scene.trace && holds(*m_scene.trace, id))
            m_scene.several.push_back(m_scene.trace->slice(id));
    m_area.setAccessibleDescription(tr("%1 slices selected").arg(m_scene.several.size()));
    QAccessibleEvent changed(&m_area, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
}

std::vector<SliceId> TimelineSelection::selectedIds() const
{
    std::vector<SliceId> ids;
    if (m_scene.selected)
        ids.push_back(m_scene.selected->id);
    for (const Slice& slice : m_scene.several)
        ids.push_back(slice.id);
    return ids;
}

std::optional<Slice> TimelineSelection::lastSelected() const
{
    return m_scene.several.empty() ? m_scene.selected : std::optional(m_scene.several.back());
}

void TimelineSelection::toggle(const Slice& slice)
{
    std::vector<SliceId> ids = selectedIds();
    if (std::erase(ids, slice.id) == 0)
        ids.push_back(slice.id);
    if (ids.empty())
        return clear();
    setRange({});
    setSlices(ids);
    emit slicesSelected(ids);
}

void TimelineSelection::add(const std::optional<Slice>& slice)
{
    std::vector<SliceId> ids = selectedIds();
    if (!slice || std::find(ids.begin(), ids.end(), slice->id) != ids.end())
        return;
    toggle(*slice);
    m_navigation.bringIntoView(*slice);
}

void TimelineSelection::addNext()
{
    if (const auto last = lastSelected(); last && !m_scene.isEmpty())
        add(nextSlice(*m_scene.trace, *last));
}
void TimelineSelection::addPrevious()
{
    if (const auto last = lastSelected(); last && !m_scene.isEmpty())
        add(previousSlice(*m_scene.trace, *last));
}

void TimelineSelection::setRange(std::optional<TimeRange> range)
{
    m_scene.range = range;
    m_area.viewport()->update();
}

void TimelineSelection::select(const Slice& slice)
{
    setRange({});
    setSlice(slice.id);
    emit sliceSelected(slice.id);
}

void TimelineSelection::select(TimeRange range)
{
    setSlice({});
    setRange(range);
    emit rangeSelected(range);
}

void TimelineSelection::selectAndShow(const Slice& slice)
{
    setSlice(slice.id);
    setRange({});
    m_navigation.bringIntoView(slice);
    emit sliceSelected(slice.id);
}

void TimelineSelection::clear()
{
    setSlice({});
    setRange({});
    emit cleared();
}

void TimelineSelection::selectNext()
{
    if (m_scene.isEmpty())
        return;
    if (m_scene.selected) {
        if (const auto next = nextSlice(*m_scene.trace, *m_scene.selected))
            selectAndShow(*next);
        return;
    }
    // Nothing selected: select the first visible slice of the current row.
    const int row = std::max(0, m_scene.currentRow);
    for (std::size_t i = static_cast<std::size_t>(row); i < m_scene.rows.all().size(); ++i) {
        const TrackRow& at = m_scene.rows.all()[i];
        if (at.kind != TrackRow::Kind::Track)
            continue;
        const auto reach = m_scene.axis.visible().duration();
        if (const auto first =
                nearestSlice(*m_scene.trace, at.track, at.firstDepth, m_scene.axis.visible().begin, reach))
            selectAndShow(*first);
        return;
    }
}

void TimelineSelection::selectPrevious()
{
    if (m_scene.isEmpty() || !m_scene.selected)
        return selectNext();
    if (const auto previous = previousSlice(*m_scene.trace, *m_scene.selected))
        selectAndShow(*previous);
}

void TimelineSelection::selectOuter()
{
    if (m_scene.isEmpty() || !m_scene.selected || m_scene.selected->depth == 0)
        return;
    const Slice& of = *m_scene.selected;
    if (const auto outer = nearestSlice(*m_scene.trace, of.id.track, of.depth - 1, of.begin, profiler::Nanoseconds{0}))
        selectAndShow(*outer);
}

void TimelineSelection::selectInner()
{
    if (m_scene.isEmpty() || !m_scene.selected)
        return;
    const Slice& of = *m_scene.selected;
    auto inner = nearestSlice(*m_scene.trace, of.id.track, of.depth + 1, of.begin, of.duration);
    if (inner && inner->begin < of.begin) // the label of the previous slice is nearer
        inner = nextSlice(*m_scene.trace, *inner);
    if (inner && of.range().contains(inner->begin))
        selectAndShow(*inner);
}

void TimelineSelection::selectView()
{
    const TimeRange all = m_scene.axis.bounds(), view = m_scene.axis.visible();
    const TimeRange range{std::max(all.begin, view.begin), std::min(all.end, view.end)};
    if (!m_scene.isEmpty() && !range.empty())
        select(range);
}

void TimelineSelection::followFlow()
{
    goAlong(true);
}
void TimelineSelection::followFlowBack()
{
    goAlong(false);
}

void TimelineSelection::goAlong(bool forward)
{
    if (m_scene.selected && !m_scene.isEmpty())
        if (const auto next = alongFlow(*m_scene.trace, *m_scene.selected, forward))
            selectAndShow(*next);
}

void TimelineSelection::goToOtherPass()
{
    if (m_scene.selected && !m_scene.isEmpty())
        if (const auto other = otherPass(*m_scene.trace, *m_scene.selected))
            selectAndShow(*other);
}

void TimelineSelection::toggleAllFlows()
{
    m_scene.allFlows = !m_scene.allFlows;
    m_area.viewport()->update();
}

TimelineRowCommands::TimelineRowCommands(TimelineScene& scene, TimelineNavigation& navigation,
                                         QAbstractScrollArea& area)
    : m_scene(scene), m_navigation(navigation), m_area(area)
{
}

/// The current row stays current at its new position.
template <class Edit>
void TimelineRowCommands::edit(Edit&& change)
{
    const int current = m_scene.currentRow;
    const QString key = has(current) ? m_scene.rows.at(current).key : QString();
    change();
    const int now = m_scene.rows.rowOfKey(key);
    m_scene.currentRow = now >= 0 ? now : std::min(current, m_scene.rows.count() - 1);
    m_scene.draggedRow = -1;
    m_scene.dropLine.reset();
    m_navigation.update();
    emit layoutChanged();
}

void TimelineRowCommands::setLayout(RowLayout layout)
{
    m_scene.rows.setLayout(std::move(layout));
    m_scene.currentRow = std::min(m_scene.currentRow, m_scene.rows.count() - 1);
    m_navigation.update();
}

void TimelineRowCommands::setFilter(const Filter& filter)
{
    if (m_scene.rows.filter() == filter && !m_scene.rows.droppedFilter())
        return;
    m_scene.rows.setFilter(filter);
    m_scene.currentRow = std::min(m_scene.currentRow, m_scene.rows.count() - 1);
    m_navigation.update();
}

void TimelineRowCommands::rowUp()
{
    goToRow(m_scene.currentRow - 1);
}
void TimelineRowCommands::rowDown()
{
    goToRow(m_scene.currentRow + 1);
}

void TimelineRowCommands::goToRow(int row)
{
    const int last = m_scene.rows.count() - 1;
    m_scene.currentRow = std::clamp(row, std::min(0, last), std::max(last, -1));
    m_navigation.scrollToRow(m_scene.currentRow, 0);
    m_area.viewport()->update();
}

void TimelineRowCommands::toggleRow()
{
    const int row = m_scene.currentRow;
    if (!has(row))
        return;
    if (m_scene.rows.at(row).kind == TrackRow::Kind::Hidden)
        showAllRows();
    else
        edit([&] { m_scene.rows.setOpen(row, !m_scene.rows.at(row).open); });
}

void TimelineRowCommands::foldAll()
{
    edit([this] { m_scene.rows.setAllOpen(false); });
}
void TimelineRowCommands::unfoldAll()
{
    edit([this] { m_scene.rows.setAllOpen(true); });
}

void TimelineRowCommands::moveRow(int by)
{
    if (!has(m_scene.currentRow))
        return;
    edit([&] { m_scene.rows.move(m_scene.currentRow, by); });
    m_navigation.scrollToRow(m_scene.currentRow, 0);
}

void TimelineRowCommands::moveRowUp()
{
    moveRow(-1);
}
void TimelineRowCommands::moveRowDown()
{
    moveRow(1);
}

void TimelineRowCommands::hideRow()
{
    if (has(m_scene.currentRow))
        edit([this] { m_scene.rows.hide(m_scene.currentRow); });
}

void TimelineRowCommands::togglePin()
{
    const int row = m_scene.currentRow;
    if (has(row))
        edit([&] { m_scene.rows.setPinned(row, !m_scene.rows.at(row).pinned); });
}

void TimelineRowCommands::showAllRows()
{
    edit([this] { m_scene.rows.showAll(); });
}

void TimelineRowCommands::showRow(const QString& key)
{
    edit([&] { m_scene.rows.show(key); });
}

void TimelineRowCommands::resetRows()
{
    edit([this] { m_scene.rows.setLayout({}); });
}

void TimelineRowCommands::resize(int row, int y)
{
    if (!has(row))
        return;
    m_scene.rows.resize(row, y - m_scene.rows.at(row).top);
    m_navigation.update();
}

void TimelineRowCommands::drag(int row, int y)
{
    if (!has(row))
        return;
    const auto drop = m_scene.rows.dropAt(row, y);
    m_scene.draggedRow = row;
    m_scene.dropLine = drop ? std::optional(drop->y) : std::nullopt;
    m_area.viewport()->update();
}

void TimelineRowCommands::drop(int row, int y)
{
    edit([&] {
        if (!has(row))
            return;
        if (const auto drop = m_scene.rows.dropAt(row, y))
            m_scene.rows.drop(row, *drop);
    });
}

void TimelineRowCommands::endResize()
{
    edit([] {});
}

bool TimelineRowCommands::has(int row) const
{
    return row >= 0 && row < m_scene.rows.count();
}

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
