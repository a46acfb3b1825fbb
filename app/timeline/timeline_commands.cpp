#include "app/timeline/slice_search.h"
#include "app/timeline/timeline_canvas.h"

#include <QScrollBar>
#include <algorithm>

// Implementation of the shortcuts; the menu entries call the same functions.
namespace app {

using profiler::TimeRange;

namespace {

constexpr double kKeyZoom = 1.5;
constexpr double kKeyPan = 0.1;  ///< share of the width
constexpr double kFilled = 0.95; ///< a selection that fills this part of the usual share is already fitted
constexpr double kFitSelection = 0.8;

} // namespace

void TimelineCanvas::zoomIn()
{
    zoomAt(zoomAnchor(), kKeyZoom);
}
void TimelineCanvas::zoomOut()
{
    zoomAt(zoomAnchor(), 1 / kKeyZoom);
}
void TimelineCanvas::panLeft()
{
    pan(-m_scene.axis.width() * kKeyPan);
}
void TimelineCanvas::panRight()
{
    pan(m_scene.axis.width() * kKeyPan);
}
void TimelineCanvas::scrollUp()
{
    verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
}
void TimelineCanvas::scrollDown()
{
    verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
}

void TimelineCanvas::fit()
{
    std::optional<TimeRange> range = m_scene.range;
    if (m_scene.selected)
        range = m_scene.selected->range();
    const double filled =
        range ? static_cast<double>(range->duration().count()) / (m_scene.axis.nsPerPixel() * m_scene.axis.width()) : 0;
    const bool shown = range && m_scene.axis.visible().contains(range->begin) && filled > kFilled * kFitSelection;
    setFollow(false);
    if (range && !shown)
        m_scene.axis.show(*range, kFitSelection);
    else
        m_scene.axis.fit();
    moved();
}

void TimelineCanvas::fitAll()
{
    setFollow(false);
    m_scene.axis.fit();
    moved();
}

void TimelineCanvas::goToBegin()
{
    setFollow(false);
    m_scene.axis.place(m_scene.axis.bounds().begin, m_scene.axis.width() * 0.03);
    moved();
}

void TimelineCanvas::followEnd()
{
    m_scene.axis.place(m_scene.axis.bounds().end, m_scene.axis.width() * 0.97);
    setFollow(m_scene.trace && m_scene.trace->captureStats().live);
    moved();
}

void TimelineCanvas::letGo()
{
    if (m_scene.marks.clearPlain()) {
        viewport()->update();
        return;
    }
    setSelectedSlice({});
    setSelectedRange({});
    emit selectionCleared();
}

void TimelineCanvas::zoomToSelected()
{
    if (!m_scene.selected && !m_scene.range)
        return;
    setFollow(false);
    m_scene.axis.show(m_scene.selected ? m_scene.selected->range() : *m_scene.range, kFitSelection);
    moved();
}

void TimelineCanvas::selectNext()
{
    if (isEmpty())
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

void TimelineCanvas::selectPrevious()
{
    if (isEmpty() || !m_scene.selected)
        return selectNext();
    if (const auto previous = previousSlice(*m_scene.trace, *m_scene.selected))
        selectAndShow(*previous);
}

void TimelineCanvas::selectOuter()
{
    if (isEmpty() || !m_scene.selected || m_scene.selected->depth == 0)
        return;
    const profiler::Slice& of = *m_scene.selected;
    if (const auto outer = nearestSlice(*m_scene.trace, of.id.track, of.depth - 1, of.begin, profiler::Nanoseconds{0}))
        selectAndShow(*outer);
}

void TimelineCanvas::selectInner()
{
    if (isEmpty() || !m_scene.selected)
        return;
    const profiler::Slice& of = *m_scene.selected;
    auto inner = nearestSlice(*m_scene.trace, of.id.track, of.depth + 1, of.begin, of.duration);
    if (inner && inner->begin < of.begin) // the label of the previous slice is nearer
        inner = nextSlice(*m_scene.trace, *inner);
    if (inner && of.range().contains(inner->begin))
        selectAndShow(*inner);
}

void TimelineCanvas::selectView()
{
    const TimeRange all = m_scene.axis.bounds(), view = m_scene.axis.visible();
    const TimeRange range{std::max(all.begin, view.begin), std::min(all.end, view.end)};
    if (isEmpty() || range.empty())
        return;
    setSelectedSlice({});
    setSelectedRange(range);
    emit rangeSelected(range);
}

void TimelineCanvas::followFlow()
{
    goAlong(true);
}
void TimelineCanvas::followFlowBack()
{
    goAlong(false);
}

void TimelineCanvas::goAlong(bool forward)
{
    if (m_scene.selected && !isEmpty())
        if (const auto next = alongFlow(*m_scene.trace, *m_scene.selected, forward))
            selectAndShow(*next);
}

void TimelineCanvas::goToOtherPass()
{
    if (m_scene.selected && !isEmpty())
        if (const auto other = otherPass(*m_scene.trace, *m_scene.selected))
            selectAndShow(*other);
}

void TimelineCanvas::toggleAllFlows()
{
    m_scene.allFlows = !m_scene.allFlows;
    viewport()->update();
}

} // namespace app
