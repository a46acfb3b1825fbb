#include "app/timeline/timeline_minimap.h"

#include "app/charts/counter_series.h"
#include "profiler/model/level_of_detail.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::ColoredBucket;
using profiler::Nanoseconds;
using profiler::TimeRange;
using profiler::TraceTime;
using profiler::Track;
using profiler::TrackKind;

namespace {

constexpr double kEdge = 5;           ///< tolerance in pixels around the frame's edges for resizing
constexpr double kNarrowest = 10;     ///< minimum frame width in pixels that can be grabbed
constexpr int kInset = 3;             ///< pixels above and below the activity
constexpr double kOutsideShade = 0.5; ///< opacity of the part that is not visible
constexpr double kWheelZoom = 1.2;

Nanoseconds scaled(Nanoseconds span, double by)
{
    return Nanoseconds{std::llround(static_cast<double>(span.count()) * by)};
}

} // namespace

TimelineMinimap::TimelineMinimap(QWidget* parent) : QWidget(parent), m_theme(TimelineTheme::from(palette()))
{
    setFixedHeight(kHeight);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("The whole trace"));
    setToolTip(tr("The whole trace. Drag the frame to move, its edges to zoom."));
}

void TimelineMinimap::setTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_trace = std::move(trace);
    m_range = m_trace ? shownRange(*m_trace) : TimeRange{};
    m_colors = SliceColors(m_trace, ColorBy::Kind);
    m_activity = {};
    update();
}

void TimelineMinimap::setView(TimeRange visible, int left)
{
    if (left != m_left)
        m_activity = {};
    m_left = left;
    m_visible = visible;
    update();
}

void TimelineMinimap::setHits(std::shared_ptr<const FindHits> hits)
{
    m_hits = std::move(hits);
    update();
}

void TimelineMinimap::setMarked(std::shared_ptr<const MarkedItems> marked)
{
    m_marked = std::move(marked);
    update();
}

void TimelineMinimap::setBookmarks(std::vector<TraceTime> times)
{
    m_bookmarks = std::move(times);
    update();
}

QRect TimelineMinimap::strip() const
{
    return {m_left, 0, std::max(1, width() - m_left), height() - 1};
}

double TimelineMinimap::xOf(TraceTime time) const
{
    const TimeRange& all = m_range;
    if (all.empty())
        return m_left;
    return m_left + strip().width() * static_cast<double>((time - all.begin).count()) /
                        static_cast<double>(all.duration().count());
}

TraceTime TimelineMinimap::timeAt(double x) const
{
    const TimeRange& all = m_range;
    return all.begin + scaled(all.duration(), (x - m_left) / strip().width());
}

QRectF TimelineMinimap::frame() const
{
    const QRectF whole = strip();
    double left = std::clamp(xOf(m_visible.begin), whole.left(), whole.right());
    double right = std::clamp(xOf(m_visible.end), whole.left(), whole.right());
    if (const double missing = kNarrowest - (right - left); missing > 0) {
        left = std::clamp(left - missing / 2, whole.left(), std::max(whole.left(), whole.right() - kNarrowest));
        right = std::min(left + kNarrowest, whole.right());
    }
    return {left, whole.top(), right - left, whole.height()};
}

TimelineMinimap::Hand TimelineMinimap::handAt(QPointF at) const
{
    if (m_range.empty() || at.x() < m_left - kEdge)
        return Hand::None;
    const QRectF held = frame();
    const double reach = std::min(kEdge, held.width() / 4);
    if (std::abs(at.x() - held.left()) <= kEdge && at.x() < held.left() + reach)
        return Hand::Left;
    if (std::abs(at.x() - held.right()) <= kEdge && at.x() > held.right() - reach)
        return Hand::Right;
    return Hand::Move;
}

void TimelineMinimap::want(TraceTime begin, TraceTime end)
{
    const TimeRange& all = m_range;
    const TimeRange wanted{std::clamp(begin, all.begin, all.end), std::clamp(end, all.begin, all.end)};
    if (!wanted.empty())
        emit rangeWanted(wanted);
}

void TimelineMinimap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_hand = handAt(event->position());
    m_last = event->position();
    if (m_hand == Hand::Move && !frame().contains(m_last)) {
        const Nanoseconds half = m_visible.duration() / 2;
        const TraceTime middle = timeAt(m_last.x());
        want(middle - half, middle + half);
    }
}

void TimelineMinimap::mouseMoveEvent(QMouseEvent* event)
{
    const QPointF at = event->position();
    if (m_hand == Hand::None) {
        const Hand hand = handAt(at);
        setCursor(hand == Hand::Left || hand == Hand::Right ? Qt::SizeHorCursor : Qt::ArrowCursor);
        return;
    }
    const Nanoseconds by = timeAt(at.x()) - timeAt(m_last.x());
    m_last = at;
    if (m_hand == Hand::Left)
        want(std::min(timeAt(at.x()), m_visible.end - Nanoseconds{1}), m_visible.end);
    else if (m_hand == Hand::Right)
        want(m_visible.begin, std::max(timeAt(at.x()), m_visible.begin + Nanoseconds{1}));
    else {
        // The frame stops at either end; it does not shrink.
        const TimeRange& all = m_range;
        const Nanoseconds least = std::min(all.begin - m_visible.begin, Nanoseconds{0}),
                          most = std::max(all.end - m_visible.end, Nanoseconds{0});
        const Nanoseconds moved = std::clamp(by, least, most);
        want(m_visible.begin + moved, m_visible.end + moved);
    }
}

void TimelineMinimap::mouseReleaseEvent(QMouseEvent*)
{
    m_hand = Hand::None;
}

void TimelineMinimap::mouseDoubleClickEvent(QMouseEvent*)
{
    if (!m_range.empty())
        want(m_range.begin, m_range.end);
}

void TimelineMinimap::wheelEvent(QWheelEvent* event)
{
    event->accept();
    if (m_range.empty())
        return;
    const double factor = std::pow(kWheelZoom, -event->angleDelta().y() / double{QWheelEvent::DefaultDeltasPerStep});
    const TraceTime at = timeAt(event->position().x());
    want(at - scaled(at - m_visible.begin, factor), at + scaled(m_visible.end - at, factor));
}

void TimelineMinimap::resizeEvent(QResizeEvent*)
{
    m_activity = {};
}

void TimelineMinimap::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange) {
        m_theme = TimelineTheme::from(palette());
        m_activity = {};
        update();
    }
    QWidget::changeEvent(event);
}

/// The phases of the main thread above, GPU work below; if there is neither, the busiest thread.
void TimelineMinimap::drawActivity()
{
    const double ratio = devicePixelRatioF();
    m_activity = QImage((QSizeF(strip().size()) * ratio).toSize(), QImage::Format_RGB32);
    m_activity.setDevicePixelRatio(ratio);
    m_activity.fill(m_theme.background);
    const auto tracks = m_trace->tracks();
    const bool devices =
        std::any_of(tracks.begin(), tracks.end(), [](const Track& t) { return t.kind == TrackKind::Stream; });
    const bool hosts =
        std::any_of(tracks.begin(), tracks.end(), [](const Track& t) { return t.kind != TrackKind::Stream; });
    const int top = static_cast<int>(kInset * ratio), bottom = m_activity.height() - top;
    const int middle = devices && hosts ? top + (bottom - top) * 2 / 5 : devices ? top : bottom;
    if (hosts)
        drawHost(top, middle - (devices ? 1 : 0));
    if (devices)
        drawDevices(middle, bottom);
}

void TimelineMinimap::drawHost(int top, int bottom)
{
    const auto tellsMore = [this](const Track& a, const Track& b) {
        const auto weight = [this](const Track& track) {
            return std::pair(track.kind == TrackKind::MainThread, m_trace->sliceCount(track.id));
        };
        return weight(a) > weight(b);
    };
    const Track* shown = nullptr;
    for (const Track& track : m_trace->tracks())
        if (track.kind != TrackKind::Stream && track.kind != TrackKind::Counter && (!shown || tellsMore(track, *shown)))
            shown = &track;
    if (!shown)
        return;
    const int depth = shown->kind == TrackKind::MainThread && m_trace->depthCount(shown->id) > 1 ? 1 : 0;
    std::vector<ColoredBucket> buckets(static_cast<std::size_t>(m_activity.width()));
    summarize(*m_trace, shown->id, depth, m_range, std::span(buckets), profiler::LodEdges::Fine,
              *m_colors.palette(m_theme.dark));
    QPainter painter(&m_activity);
    painter.scale(1 / m_activity.devicePixelRatio(), 1 / m_activity.devicePixelRatio());
    for (std::size_t x = 0; x < buckets.size(); ++x)
        if (buckets[x].count > 0)
            painter.fillRect(QRect(static_cast<int>(x), top, 1, bottom - top),
                             blend(m_theme.background, QColor(mixedPixel(buckets[x].color)),
                                   shownShare(static_cast<double>(buckets[x].busy))));
}

void TimelineMinimap::drawDevices(int top, int bottom)
{
    const auto width = static_cast<std::size_t>(m_activity.width());
    std::vector<ColoredBucket> buckets(width), most(width);
    for (const Track& track : m_trace->tracks()) {
        if (track.kind != TrackKind::Stream)
            continue;
        summarize(*m_trace, track.id, 0, m_range, std::span(buckets), profiler::LodEdges::Fine,
                  *m_colors.palette(m_theme.dark));
        for (std::size_t x = 0; x < width; ++x)
            if (buckets[x].count > 0 && (most[x].count == 0 || buckets[x].busy > most[x].busy))
                most[x] = buckets[x];
    }
    QPainter painter(&m_activity);
    painter.scale(1 / m_activity.devicePixelRatio(), 1 / m_activity.devicePixelRatio());
    for (std::size_t x = 0; x < width; ++x)
        if (most[x].count > 0) {
            const int height =
                std::max(1, static_cast<int>(std::lround(most[x].busy * static_cast<float>(bottom - top))));
            painter.fillRect(QRect(static_cast<int>(x), bottom - height, 1, height), QColor(mixedPixel(most[x].color)));
        }
}

void TimelineMinimap::paintMarks(QPainter& painter) const
{
    if (m_hits && m_hits->count > 0) {
        const double share = static_cast<double>(strip().width()) / static_cast<double>(m_hits->marks.size());
        for (std::size_t i = 0; i < m_hits->marks.size(); ++i)
            if (m_hits->marks[i] > 0)
                painter.fillRect(QRectF(m_left + static_cast<double>(i) * share, 0, std::max(1.0, share), 6),
                                 m_theme.found);
    }
    if (m_marked) {
        double last = -1;
        const auto tick = [&](TraceTime time) {
            const double x = std::floor(xOf(time));
            if (x != last)
                painter.fillRect(QRectF(x, 0, 2, 6), m_theme.found);
            last = x;
        };
        for (const profiler::Slice& slice : m_marked->slices)
            tick(slice.begin);
        for (const profiler::TimeRange& range : m_marked->ranges)
            tick(range.begin);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(classStyle(SliceClass::Communication, m_theme.dark).fill);
    for (const TraceTime time : m_bookmarks) {
        const double x = xOf(time), foot = height() - 1;
        painter.drawPolygon(QPolygonF{QPointF(x, foot - 8), QPointF(x - 4, foot), QPointF(x + 4, foot)});
    }
}

void TimelineMinimap::paintFrame(QPainter& painter) const
{
    const QRectF held = frame().toRect();
    const QRectF whole = strip();
    QColor shade = m_theme.background;
    shade.setAlphaF(static_cast<float>(kOutsideShade));
    painter.fillRect(QRectF(whole.left(), whole.top(), held.left() - whole.left(), whole.height()), shade);
    painter.fillRect(QRectF(held.right(), whole.top(), whole.right() - held.right(), whole.height()), shade);
    painter.setPen(QPen(m_theme.accent, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(held.adjusted(0.75, 0.75, -0.75, -0.75));
    for (const double x : {held.left() + 3, held.right() - 4}) // grips
        if (held.width() > 3 * kNarrowest)
            painter.fillRect(QRectF(x, height() / 2.0 - 6, 1, 12), m_theme.accent);
}

void TimelineMinimap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.header);
    painter.fillRect(strip(), m_theme.background);
    if (!m_range.empty()) {
        if (m_activity.isNull() || m_activity.devicePixelRatio() != devicePixelRatioF())
            drawActivity();
        painter.drawImage(strip().topLeft(), m_activity);
        paintFrame(painter);
        paintMarks(painter);
        painter.setPen(m_theme.dimText);
        painter.drawText(QRect(24, 0, m_left - 30, height()), Qt::AlignVCenter | Qt::AlignLeft, tr("Whole trace"));
    }
    painter.fillRect(QRect(0, height() - 1, width(), 1), m_theme.border);
    painter.fillRect(QRect(m_left - 1, 0, 1, height()), m_theme.border);
}

} // namespace app
