#include "app/timeline/timeline_canvas.h"

#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"

#include <QAccessible>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::SliceId;
using profiler::TimeRange;
using profiler::Trace;
using profiler::TrackId;

namespace {

constexpr int kBarSteps = 100'000;               ///< resolution of the horizontal scroll bar
constexpr double kShowShare = 0.6;               ///< share of the width for shown evidence
constexpr Nanoseconds kLiveSpan{10'000'000'000}; ///< visible time of a growing trace while following
constexpr double kEndShare = 0.97;               ///< position of the end while following
constexpr Nanoseconds kReadingTime{3'000'000};   ///< part of a frame's 16 ms; the rest is for drawing

} // namespace

TimelineCanvas::TimelineCanvas(QWidget* parent) : QAbstractScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setAccessibleName(tr("Timeline"));
    m_scene.theme = TimelineTheme::from(palette());
    m_painter.setReadingTime(kReadingTime);
    addTimelineActions(*this);
}

bool TimelineCanvas::isEmpty() const
{
    return !m_scene.trace || m_scene.axis.bounds().empty();
}

void TimelineCanvas::setTrace(std::shared_ptr<const Trace> trace)
{
    m_scene.axis = TimeAxis();
    m_scene.axis.setWidth(m_scene.lanesRect().width());
    m_scene.marks.clear();
    m_scene.gaps.reset();
    m_scene.steps.reset();
    m_steps.clear();
    m_scene.hits.reset();
    m_scene.range.reset();
    m_scene.hovered.reset();
    m_scene.currentRow = -1;
    if (m_drag == Drag::Row || m_drag == Drag::RowSize)
        m_drag = Drag::None; // its row has a different index now, or none
    m_pressedRow = m_scene.draggedRow = -1;
    m_scene.dropLine.reset();
    m_scene.trace = nullptr;
    setSelectedSlice({});
    updateTrace(std::move(trace));
    if (!isEmpty())
        m_scene.axis.fit();
    syncScrollBars();
}

void TimelineCanvas::updateTrace(std::shared_ptr<const Trace> trace)
{
    if (isEmpty()) // first slices of a run: the user cannot have moved yet
        setFollow(trace && trace->captureStats().live);
    const bool wasWhole = m_scene.axis.visible().duration() >= m_scene.axis.bounds().duration();
    const auto isLive = [](const auto& snapshot) { return snapshot && snapshot->captureStats().live; };
    // A live trace only grows, but each preview of a file may have other counters.
    if (!isLive(m_scene.trace) || !isLive(trace))
        m_scene.counters.clear();
    m_scene.trace = std::move(trace);
    m_scene.colors = SliceColors(m_scene.trace, m_scene.colors.scheme());
    m_scene.rows.setTrace(m_scene.trace);
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
    if (m_scene.trace)
        m_steps.follow(*m_scene.trace);
    m_scene.steps = m_steps.steps();
    if (m_scene.selected) // an open slice may have grown
        setSelectedSlice(m_scene.selected->id);
    moved();
}

void TimelineCanvas::setSelectedSlice(std::optional<SliceId> id)
{
    m_scene.selected.reset();
    m_scene.flows.clear();
    if (id && m_scene.trace && holds(*m_scene.trace, *id)) {
        m_scene.selected = m_scene.trace->slice(*id);
        m_scene.flows = flowsAround(*m_scene.trace, *m_scene.selected);
        m_scene.currentRow = m_scene.rows.rowOf(id->track);
        setAccessibleDescription(sliceSentence(*m_scene.trace, *m_scene.selected));
    } else {
        setAccessibleDescription({});
    }
    QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
    viewport()->update();
}

void TimelineCanvas::setSelectedRange(std::optional<TimeRange> range)
{
    m_scene.range = range;
    viewport()->update();
}

void TimelineCanvas::bringIntoView(TimeRange range, std::optional<TrackId> track)
{
    if (isEmpty())
        return;
    setFollow(false);
    m_scene.axis.show(range, kShowShare);
    if (track) {
        const int depth = m_scene.selected && m_scene.selected->id.track == *track ? m_scene.selected->depth : 0;
        m_scene.rows.reveal(*track, depth);
        m_scene.currentRow = m_scene.rows.rowOf(*track);
        syncScrollBars();
        scrollToRow(m_scene.currentRow, depth);
    }
    moved();
}

void TimelineCanvas::showRange(TimeRange range)
{
    if (isEmpty() || range.empty())
        return;
    setFollow(false);
    m_scene.axis.show(range, 1);
    moved();
}

void TimelineCanvas::setHits(std::shared_ptr<const FindHits> hits)
{
    m_scene.hits = std::move(hits);
    viewport()->update();
}

void TimelineCanvas::setMarked(std::shared_ptr<const MarkedItems> marked)
{
    m_scene.marked = std::move(marked);
    viewport()->update();
}

void TimelineCanvas::setGaps(std::shared_ptr<const DeviceGaps> gaps)
{
    m_scene.gaps = std::move(gaps);
    viewport()->update();
}

void TimelineCanvas::setSteps(std::shared_ptr<const Steps> steps)
{
    if (m_scene.trace)
        m_steps.take(*m_scene.trace, std::move(steps));
    m_scene.steps = m_steps.steps();
    viewport()->update();
}

void TimelineCanvas::setComing(const QString& what)
{
    m_coming = what;
    if (isEmpty())
        viewport()->update();
}

void TimelineCanvas::setColorBy(ColorBy by)
{
    m_scene.colors = SliceColors(m_scene.trace, by);
    viewport()->update();
}

void TimelineCanvas::selectAndShow(const Slice& slice)
{
    setSelectedSlice(slice.id);
    setSelectedRange({});
    m_scene.rows.reveal(slice.id.track, slice.depth);
    const TimeRange visible = m_scene.axis.visible();
    if (!visible.contains(slice.begin) || !visible.contains(slice.end())) {
        setFollow(false);
        if (slice.duration > visible.duration())
            m_scene.axis.show(slice.range(), kShowShare);
        else
            m_scene.axis.place(slice.begin + slice.duration / 2, m_scene.axis.width() / 2);
    }
    syncScrollBars();
    scrollToRow(m_scene.rows.rowOf(slice.id.track), slice.depth);
    moved();
    emit sliceSelected(slice.id);
}

void TimelineCanvas::setFollow(bool follow)
{
    m_follow = follow;
}

/// Updates the scroll bars and the picture after a change of the visible range.
void TimelineCanvas::moved()
{
    syncScrollBars();
    if (m_scene.pointerInside)
        hover(m_scene.pointer);
    viewport()->update();
    emit viewChanged();
}

void TimelineCanvas::syncScrollBars()
{
    m_syncing = true;
    if (m_drag != Drag::RowSize) // the edge that is dragged must stay at the pointer
        m_scene.rows.fill(m_scene.lanesRect().height());
    const auto bounds = m_scene.axis.bounds();
    const auto visible = m_scene.axis.visible();
    QScrollBar* across = horizontalScrollBar();
    if (isEmpty() || visible.duration() >= bounds.duration()) {
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
    QScrollBar* down = verticalScrollBar();
    const int room = std::max(0, m_scene.lanesRect().height());
    down->setRange(0, isEmpty() ? 0 : std::max(0, m_scene.rows.height() - room));
    down->setPageStep(room);
    down->setSingleStep(TrackRows::kLaneHeight);
    m_scene.scrollY = down->value();
    m_syncing = false;
}

void TimelineCanvas::scrollContentsBy(int dx, int)
{
    if (m_syncing)
        return;
    m_scene.scrollY = verticalScrollBar()->value();
    if (dx != 0 && !isEmpty()) {
        const auto bounds = m_scene.axis.bounds();
        const auto whole = bounds.duration() - m_scene.axis.visible().duration();
        const double share = static_cast<double>(horizontalScrollBar()->value()) / kBarSteps;
        setFollow(false);
        m_scene.axis.place(
            bounds.begin + Nanoseconds{static_cast<std::int64_t>(static_cast<double>(whole.count()) * share)}, 0);
        emit viewChanged();
    }
    viewport()->update();
}

void TimelineCanvas::layOut()
{
    m_scene.size = viewport()->size();
    // A canvas that is not visible yet has an arbitrary size, which must not narrow the column permanently.
    if (isVisible())
        m_scene.headerWidth = std::clamp(m_scene.headerWidth, 60, std::max(60, m_scene.size.width() * 2 / 3));
    m_scene.axis.setWidth(std::max(1, m_scene.lanesRect().width()));
    moved();
}

void TimelineCanvas::resizeEvent(QResizeEvent*)
{
    layOut();
}

void TimelineCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
        m_scene.theme = TimelineTheme::from(palette());
        viewport()->update();
    }
    QAbstractScrollArea::changeEvent(event);
}

void TimelineCanvas::focusInEvent(QFocusEvent* event)
{
    m_scene.focused = true;
    if (m_scene.currentRow < 0 && !m_scene.rows.all().empty())
        m_scene.currentRow = 0;
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TimelineCanvas::focusOutEvent(QFocusEvent* event)
{
    m_scene.focused = false;
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void TimelineCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    if (isEmpty()) {
        paintEmpty(painter);
        return;
    }
    m_scene.ratio = devicePixelRatioF();
    m_scene.labels.setFont(font(), m_scene.ratio);
    m_painter.paint(painter, m_scene);
    if (!m_painter.isSettled())
        viewport()->update();
}

TimelineCanvas::EmptyText TimelineCanvas::emptyText() const
{
    if (m_scene.trace && m_scene.trace->captureStats().live)
        return {tr("Waiting for the first events"),
                tr("The training is starting. Its threads appear here when they start to work.")};
    if (!m_coming.isEmpty())
        return {tr("The training is starting"), m_coming};
    const bool file = m_scene.trace && !m_scene.trace->format().empty(); // a complete file
    return {file ? tr("This trace has no events") : tr("Nothing recorded yet"),
            tr("Press Start to run the training and watch it here, or open a trace. You can also drop a trace file "
               "anywhere in the window.")};
}

void TimelineCanvas::paintEmpty(QPainter& painter) const
{
    const QRect all = viewport()->rect();
    const auto [title, below] = emptyText();
    painter.fillRect(all, m_scene.theme.background);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    painter.setFont(large);
    painter.setPen(m_scene.theme.text);
    const QRect upper(all.left() + 20, all.top(), all.width() - 40, all.height() / 2 - 4);
    painter.drawText(upper, Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap, title);
    painter.setFont(font());
    painter.setPen(m_scene.theme.dimText);
    const QRect lower(all.left() + 20, upper.bottom() + 10, all.width() - 40, all.height() / 2 - 10);
    painter.drawText(lower, Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, below);
}

} // namespace app
