#include "app/timeline/timeline_navigation.h"

#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QScrollBar>
#include <QTimerEvent>
#include <algorithm>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::TimeRange;
using profiler::TraceTime;
using profiler::TrackId;

namespace {

constexpr int kBarSteps = 100'000;               ///< resolution of the horizontal scroll bar
constexpr double kShowShare = 0.6;               ///< share of the width for shown evidence
constexpr Nanoseconds kLiveSpan{10'000'000'000}; ///< visible time of a growing trace while following
constexpr double kEndShare = 0.97;               ///< position of the end while following
constexpr double kBeginShare = 0.03;             ///< position of the start after going there
constexpr int kRest = 120;                       ///< ms without zooming after which the picture is drawn exactly
constexpr double kKeyZoom = 1.5;
constexpr double kKeyPan = 0.1;  ///< share of the width
constexpr double kFilled = 0.95; ///< a selection that fills this part of the usual share is already fitted
constexpr double kFitSelection = 0.8;

} // namespace

TimelineNavigation::TimelineNavigation(TimelineScene& scene, QAbstractScrollArea& area) : m_scene(scene), m_area(area)
{
}

void TimelineNavigation::takeSnapshot()
{
    const bool wasWhole = m_scene.axis.visible().duration() >= m_scene.axis.bounds().duration();
    m_scene.axis.setBounds(m_scene.trace ? shownRange(*m_scene.trace) : TimeRange{});
    const TimeRange bounds = m_scene.axis.bounds();
    if (m_follow && !bounds.empty()) {
        if (wasWhole && bounds.duration() <= kLiveSpan)
            m_scene.axis.fit();
        else {
            if (wasWhole)
                m_scene.axis.show({bounds.end - kLiveSpan, bounds.end});
            m_scene.axis.place(bounds.end, m_scene.axis.width() * kEndShare);
        }
    } else if (wasWhole && m_scene.trace && !m_scene.trace->captureStats().live) {
        m_scene.axis.fit(); // a file that is still being read
    }
}

void TimelineNavigation::layOut()
{
    m_scene.size = m_area.viewport()->size();
    // A canvas that is not visible yet has an arbitrary size, which must not narrow the column permanently.
    if (m_area.isVisible())
        m_scene.headerWidth = std::clamp(m_scene.headerWidth, 60, std::max(60, m_scene.size.width() * 2 / 3));
    m_scene.axis.setWidth(std::max(1, m_scene.lanesRect().width()));
    update();
}

void TimelineNavigation::update()
{
    syncScrollBars();
    emit moved();
}

void TimelineNavigation::syncScrollBars()
{
    m_syncing = true;
    if (!m_scene.resizingRow) // the edge that is dragged must stay at the pointer
        m_scene.rows.fill(m_scene.lanesRect().height());
    const auto bounds = m_scene.axis.bounds();
    const auto visible = m_scene.axis.visible();
    QScrollBar* across = m_area.horizontalScrollBar();
    if (m_scene.isEmpty() || visible.duration() >= bounds.duration()) {
        across->setRange(0, 0);
    } else {
        const double whole = static_cast<double>((bounds.duration() - visible.duration()).count());
        const double at = static_cast<double>((visible.begin - bounds.begin).count());
        const double page = static_cast<double>(visible.duration().count()) / whole;
        across->setRange(0, kBarSteps);
        across->setPageStep(static_cast<int>(std::min(page * kBarSteps, 1e9)));
        across->setSingleStep(std::max(1, across->pageStep() / 10));
        across->setValue(static_cast<int>(std::clamp(at / whole, 0.0, 1.0) * kBarSteps));
    }
    QScrollBar* down = m_area.verticalScrollBar();
    const int room = std::max(0, m_scene.lanesRect().height());
    down->setRange(0, m_scene.isEmpty() ? 0 : std::max(0, m_scene.rows.height() - room));
    down->setPageStep(room);
    down->setSingleStep(TrackRows::kLaneHeight);
    m_scene.scrollY = down->value();
    m_syncing = false;
}

void TimelineNavigation::scrolled(int dx)
{
    if (m_syncing)
        return;
    m_scene.scrollY = m_area.verticalScrollBar()->value();
    if (dx != 0 && !m_scene.isEmpty()) {
        const auto bounds = m_scene.axis.bounds();
        const auto whole = bounds.duration() - m_scene.axis.visible().duration();
        const double share = static_cast<double>(m_area.horizontalScrollBar()->value()) / kBarSteps;
        m_follow = false;
        m_scene.axis.place(
            bounds.begin + Nanoseconds{static_cast<std::int64_t>(static_cast<double>(whole.count()) * share)}, 0);
        emit scrolledAcross();
    }
    m_area.viewport()->update();
}

void TimelineNavigation::bringIntoView(TimeRange range, std::optional<TrackId> track)
{
    if (m_scene.isEmpty())
        return;
    m_follow = false;
    m_scene.axis.show(range, kShowShare);
    if (track) {
        const int depth = m_scene.selected && m_scene.selected->id.track == *track ? m_scene.selected->depth : 0;
        m_scene.rows.reveal(*track, depth);
        m_scene.currentRow = m_scene.rows.rowOf(*track);
        syncScrollBars();
        scrollToRow(m_scene.currentRow, depth);
    }
    update();
}

void TimelineNavigation::bringIntoView(const Slice& slice)
{
    m_scene.rows.reveal(slice.id.track, slice.depth);
    const TimeRange visible = m_scene.axis.visible();
    if (!visible.contains(slice.begin) || !visible.contains(slice.end())) {
        m_follow = false;
        if (slice.duration > visible.duration())
            m_scene.axis.show(slice.range(), kShowShare);
        else
            m_scene.axis.place(slice.begin + slice.duration / 2, m_scene.axis.width() / 2);
    }
    syncScrollBars();
    scrollToRow(m_scene.rows.rowOf(slice.id.track), slice.depth);
    update();
}

void TimelineNavigation::showRange(TimeRange range)
{
    if (m_scene.isEmpty() || range.empty())
        return;
    m_follow = false;
    m_scene.axis.show(range, 1);
    update();
}

void TimelineNavigation::goToTime(TraceTime time)
{
    if (m_scene.isEmpty())
        return;
    m_follow = false;
    m_scene.axis.place(time, m_scene.axis.width() / 2);
    update();
}

void TimelineNavigation::setLimits(TimeRange limits)
{
    m_scene.axis.setLimits(limits);
    update();
}

void TimelineNavigation::setHeaderWidth(int width)
{
    m_scene.headerWidth = width;
    layOut();
}

void TimelineNavigation::revealTrack(TrackId track, int depth)
{
    m_scene.rows.reveal(track, depth);
    m_scene.currentRow = m_scene.rows.rowOf(track);
    syncScrollBars();
    scrollToRow(m_scene.currentRow, depth);
    m_area.viewport()->update();
}

void TimelineNavigation::scrollToRow(int index, int depth)
{
    if (index < 0 || index >= m_scene.rows.count())
        return;
    const TrackRow& row = m_scene.rows.at(index);
    if (row.pinned && m_scene.pinnedHeight() > 0)
        return;
    const bool lane = row.kind == TrackRow::Kind::Track && row.showsDepth(depth);
    const int top = lane ? row.laneTop(depth) : row.top;
    const int bottom = lane ? top + row.laneHeight : row.bottom();
    QScrollBar* bar = m_area.verticalScrollBar();
    if (top < bar->value() + m_scene.pinnedHeight())
        bar->setValue(top - m_scene.pinnedHeight());
    else if (bottom > bar->value() + m_scene.lanesRect().height())
        bar->setValue(bottom - m_scene.lanesRect().height());
}

double TimelineNavigation::zoomAnchor() const
{
    const double width = m_scene.axis.width();
    return m_scene.pointerInside ? std::clamp(m_scene.pointer.x() - m_scene.headerWidth, 0.0, width) : width / 2;
}

void TimelineNavigation::zoomAt(double x, double factor)
{
    m_follow = false;
    m_scene.axis.zoomAt(x, factor);
    m_scene.zooming = true;
    m_rest.start(kRest, this);
    update();
}

void TimelineNavigation::timerEvent(QTimerEvent* event)
{
    if (event->timerId() != m_rest.timerId()) {
        QObject::timerEvent(event);
        return;
    }
    m_rest.stop();
    m_scene.zooming = false;
    m_area.viewport()->update();
}

void TimelineNavigation::pan(double pixels)
{
    m_follow = false;
    m_scene.axis.panBy(pixels);
    update();
}

void TimelineNavigation::zoomIn()
{
    zoomAt(zoomAnchor(), kKeyZoom);
}
void TimelineNavigation::zoomOut()
{
    zoomAt(zoomAnchor(), 1 / kKeyZoom);
}
void TimelineNavigation::panLeft()
{
    pan(-m_scene.axis.width() * kKeyPan);
}
void TimelineNavigation::panRight()
{
    pan(m_scene.axis.width() * kKeyPan);
}
void TimelineNavigation::scrollUp()
{
    m_area.verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
}
void TimelineNavigation::scrollDown()
{
    m_area.verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
}

void TimelineNavigation::fit()
{
    const std::optional<TimeRange> range = m_scene.selectedTime();
    const double filled =
        range ? static_cast<double>(range->duration().count()) / (m_scene.axis.nsPerPixel() * m_scene.axis.width()) : 0;
    const bool shown = range && m_scene.axis.visible().contains(range->begin) && filled > kFilled * kFitSelection;
    m_follow = false;
    if (range && !shown)
        m_scene.axis.show(*range, kFitSelection);
    else
        m_scene.axis.fit();
    update();
}

void TimelineNavigation::fitAll()
{
    m_follow = false;
    m_scene.axis.fit();
    update();
}

void TimelineNavigation::zoomToSelected()
{
    const std::optional<TimeRange> range = m_scene.selectedTime();
    if (!range)
        return;
    m_follow = false;
    m_scene.axis.show(*range, kFitSelection);
    update();
}

void TimelineNavigation::goToBegin()
{
    m_follow = false;
    m_scene.axis.place(m_scene.axis.bounds().begin, m_scene.axis.width() * kBeginShare);
    update();
}

void TimelineNavigation::followEnd()
{
    m_scene.axis.place(m_scene.axis.bounds().end, m_scene.axis.width() * kEndShare);
    m_follow = m_scene.trace && m_scene.trace->captureStats().live;
    update();
}

} // namespace app
