#include "app/timeline/timeline_selection.h"

#include "app/tables/slice_details.h"
#include "app/timeline/slice_search.h"
#include "app/timeline/timeline_navigation.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QAccessible>
#include <algorithm>

namespace app {

using profiler::Slice;
using profiler::SliceId;
using profiler::TimeRange;

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

} // namespace app
