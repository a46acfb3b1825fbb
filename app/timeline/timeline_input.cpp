#include "app/tables/slice_details.h"
#include "app/timeline/slice_search.h"
#include "app/timeline/timeline_canvas.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPointingDevice>
#include <QScrollBar>
#include <QTimerEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::TimeRange;

namespace {

constexpr double kWheelZoom = 1.2; ///< wheel units per notch
constexpr double kKeyPan = 0.1;    ///< share of the width
constexpr double kReach = 3;       ///< tolerance in pixels around a slice
constexpr int kRest = 120;         ///< ms without zooming after which the picture is drawn exactly
constexpr int kHeaderEdge = 4;     ///< tolerance in pixels around the header's edge for resizing

} // namespace

std::optional<Slice> TimelineCanvas::sliceAt(QPointF at) const
{
    if (isEmpty() || !m_scene.lanesRect().contains(at.toPoint()))
        return std::nullopt;
    const auto lane = m_scene.rows.laneAt(m_scene.rowsYAt(at.y()));
    if (!lane)
        return std::nullopt;
    const auto reach = Nanoseconds{static_cast<std::int64_t>(std::ceil(kReach * m_scene.axis.nsPerPixel()))};
    return nearestSlice(*m_scene.trace, lane->track, lane->depth, m_scene.timeAt(at.x()), reach);
}

bool TimelineCanvas::onHeaderEdge(QPointF at) const
{
    return std::abs(at.x() - m_scene.headerWidth) <= kHeaderEdge;
}

double TimelineCanvas::zoomAnchor() const
{
    const double width = m_scene.axis.width();
    return m_scene.pointerInside ? std::clamp(m_scene.pointer.x() - m_scene.headerWidth, 0.0, width) : width / 2;
}

void TimelineCanvas::zoomAt(double x, double factor)
{
    setFollow(false);
    m_scene.axis.zoomAt(x, factor);
    m_scene.zooming = true;
    m_rest.start(kRest, this);
    moved();
}

void TimelineCanvas::timerEvent(QTimerEvent* event)
{
    if (event->timerId() != m_rest.timerId()) {
        QAbstractScrollArea::timerEvent(event);
        return;
    }
    m_rest.stop();
    m_scene.zooming = false;
    viewport()->update();
}

void TimelineCanvas::pan(double pixels)
{
    setFollow(false);
    m_scene.axis.panBy(pixels);
    moved();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)
        return;
    m_pressed = m_last = event->position();
    if (isEmpty())
        return;
    m_pressedRow = m_pressed.x() < m_scene.headerWidth ? rowAt(m_pressed.y()) : -1;
    if (onHeaderEdge(m_pressed))
        m_drag = Drag::Header;
    else if (const int edge = rowWithEdgeAt(m_pressed); edge >= 0) {
        m_drag = Drag::RowSize;
        m_pressedRow = edge;
    } else if (m_pressed.x() > m_scene.headerWidth &&
               (m_pressed.y() < TimelineScene::kRulerHeight || event->modifiers().testFlag(Qt::ShiftModifier)))
        m_drag = Drag::Range;
    else
        m_drag = Drag::Pressed;
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const QPointF at = event->position();
    const QPointF by = at - m_last;
    const bool far = (at - m_pressed).manhattanLength() >= QApplication::startDragDistance();
    if (m_drag == Drag::Pressed && far && m_pressed.x() > m_scene.headerWidth) {
        m_drag = Drag::Pan;
        viewport()->setCursor(Qt::ClosedHandCursor);
        m_scene.hovered.reset();
    }
    if (m_drag == Drag::Pressed && far && m_pressedRow >= 0) {
        m_drag = Drag::Row;
        viewport()->setCursor(Qt::ClosedHandCursor);
    }
    if (m_drag == Drag::Row || m_drag == Drag::RowSize)
        dragRow(at);
    if (m_drag == Drag::Pan) {
        pan(-(at.x() - m_last.x()));
        verticalScrollBar()->setValue(verticalScrollBar()->value() - static_cast<int>(std::lround(by.y())));
    } else if (m_drag == Drag::Header) {
        m_scene.headerWidth = static_cast<int>(at.x());
        layOut();
    } else if (m_drag == Drag::Range && far) {
        dragRange(at);
    }
    m_last = at;
    hover(at);
}

void TimelineCanvas::dragRange(QPointF to)
{
    const auto bounds = m_scene.axis.bounds();
    const auto clamped = [&](double x) { return std::clamp(m_scene.timeAt(x), bounds.begin, bounds.end); };
    const auto a = clamped(m_pressed.x()), b = clamped(to.x());
    setSelectedRange(TimeRange{std::min(a, b), std::max(a, b)});
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    viewport()->unsetCursor();
    const Drag drag = std::exchange(m_drag, Drag::None);
    if (drag == Drag::Row || drag == Drag::RowSize)
        dropRow(event->position(), drag == Drag::RowSize);
    if (isEmpty())
        return;
    const bool far = (event->position() - m_pressed).manhattanLength() >= QApplication::startDragDistance();
    if (drag == Drag::Range && far) {
        dragRange(event->position());
        setSelectedSlice({});
        if (m_scene.range && !m_scene.range->empty())
            emit rangeSelected(*m_scene.range);
    } else if (drag == Drag::Pressed || drag == Drag::Range) {
        click(event->position());
    }
}

void TimelineCanvas::click(QPointF at)
{
    const int y = static_cast<int>(at.y()) - TimelineScene::kRulerHeight;
    const int row = rowAt(at.y());
    if (row >= 0)
        m_scene.currentRow = row;
    const auto isHeading = [&](TrackRow::Kind kind) {
        return kind == TrackRow::Kind::Group || kind == TrackRow::Kind::Hidden;
    };
    if (row >= 0 && (at.x() < m_scene.headerWidth || isHeading(m_scene.rows.at(row).kind))) {
        toggleRow();
        return;
    }
    std::optional<Slice> slice = sliceAt(at);
    if (y < 0 && y >= -TimelineScene::kStepsHeight && m_scene.hasSteps())
        if (const auto* step = stepAt(*m_scene.steps, m_scene.timeAt(at.x()))) {
            if (step->found || !holds(*m_scene.trace, step->slice)) { // the slice of an inferred step is only the first
                                                                      // one in it
                setSelectedSlice({});
                setSelectedRange(step->range);
                emit rangeSelected(step->range);
                return;
            }
            slice = m_scene.trace->slice(step->slice);
        }
    if (slice) {
        setSelectedRange({});
        setSelectedSlice(slice->id);
        emit sliceSelected(slice->id);
    } else if (m_scene.selected || m_scene.range) {
        setSelectedSlice({});
        setSelectedRange({});
        emit selectionCleared();
    }
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (isEmpty() || event->position().x() < m_scene.headerWidth) {
        mousePressEvent(event);
        return;
    }
    if (const auto slice = sliceAt(event->position())) {
        setSelectedSlice(slice->id);
        emit sliceSelected(slice->id);
        zoomToSelected();
    }
}

void TimelineCanvas::hover(QPointF at)
{
    m_scene.pointer = at;
    m_scene.pointerInside = m_scene.lanesRect().contains(at.toPoint());
    if (m_drag == Drag::None) {
        m_scene.hovered = sliceAt(at);
        viewport()->setCursor(isEmpty()                ? Qt::ArrowCursor
                              : onHeaderEdge(at)       ? Qt::SplitHCursor
                              : rowWithEdgeAt(at) >= 0 ? Qt::SplitVCursor
                                                       : Qt::ArrowCursor);
    }
    viewport()->update();
}

bool TimelineCanvas::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave) {
        m_scene.pointerInside = false;
        m_scene.hovered.reset();
        viewport()->update();
    }
    if (event->type() == QEvent::NativeGesture && !isEmpty()) {
        const auto* gesture = static_cast<QNativeGestureEvent*>(event);
        if (gesture->gestureType() == Qt::ZoomNativeGesture) {
            zoomAt(gesture->position().x() - m_scene.headerWidth, std::exp(gesture->value()));
            return true;
        }
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TimelineCanvas::wheelEvent(QWheelEvent* event)
{
    event->accept();
    if (isEmpty())
        return;
    // Pixel deltas of a mouse are unreliable on X11; those of a trackpad gesture are reliable.
    const bool pad = !event->pixelDelta().isNull() && (event->phase() != Qt::NoScrollPhase ||
                                                       event->device()->type() == QInputDevice::DeviceType::TouchPad);
    const bool zooming = event->modifiers().testFlag(Qt::ControlModifier);
    const bool overHeader = event->position().x() < m_scene.headerWidth;
    const QPointF notches = QPointF(event->angleDelta()) / QWheelEvent::DefaultDeltasPerStep;
    QScrollBar* down = verticalScrollBar();
    if (pad && !zooming) {
        if (event->pixelDelta().x() != 0)
            pan(-event->pixelDelta().x());
        down->setValue(down->value() - event->pixelDelta().y());
    } else if (overHeader) {
        down->setValue(down->value() - static_cast<int>(notches.y() * 3 * TrackRows::kLaneHeight));
    } else if (event->modifiers().testFlag(Qt::ShiftModifier) || (notches.y() == 0 && notches.x() != 0)) {
        pan(-(notches.x() + notches.y()) * m_scene.axis.width() * kKeyPan);
    } else {
        zoomAt(event->position().x() - m_scene.headerWidth, std::pow(kWheelZoom, notches.y()));
    }
    hover(event->position());
}

} // namespace app
