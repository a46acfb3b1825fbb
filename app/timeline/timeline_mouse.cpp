#include "app/timeline/timeline_mouse.h"

#include "app/tables/slice_details.h"
#include "app/timeline/timeline_commands.h"
#include "app/timeline/timeline_navigation.h"
#include "app/timeline/timeline_overlay.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QMouseEvent>
#include <QPointingDevice>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

using profiler::Slice;
using profiler::TimeRange;

namespace {

constexpr double kWheelZoom = 1.2; ///< wheel units per notch
constexpr double kWheelPan = 0.1;  ///< share of the width per notch

} // namespace

TimelineMouse::TimelineMouse(TimelineScene& scene, Targets targets, QAbstractScrollArea& area)
    : m_scene(scene), m_to(targets), m_area(area)
{
}

void TimelineMouse::setDrag(Drag drag)
{
    m_drag = drag;
    m_scene.resizingRow = drag == Drag::RowSize;
}

void TimelineMouse::forgetRow()
{
    if (m_drag == Drag::Row || m_drag == Drag::RowSize)
        setDrag(Drag::None);
    m_pressedRow = m_scene.draggedRow = -1;
    m_scene.dropLine.reset();
}

bool TimelineMouse::isFar(QPointF at) const
{
    return (at - m_pressed).manhattanLength() >= QApplication::startDragDistance();
}

void TimelineMouse::press(const QMouseEvent& event)
{
    if (event.button() != Qt::LeftButton && event.button() != Qt::MiddleButton)
        return;
    m_pressed = m_last = event.position();
    if (m_scene.isEmpty())
        return;
    m_pressedRow = m_pressed.x() < m_scene.headerWidth ? rowAt(m_scene, m_pressed.y()) : -1;
    if (isHeaderEdgeAt(m_scene, m_pressed))
        setDrag(Drag::Header);
    else if (const int edge = rowWithEdgeAt(m_scene, m_pressed); edge >= 0) {
        setDrag(Drag::RowSize);
        m_pressedRow = edge;
    } else if (m_pressed.x() > m_scene.headerWidth &&
               (m_pressed.y() < TimelineScene::kRulerHeight || event.modifiers().testFlag(Qt::ShiftModifier)))
        setDrag(Drag::Range);
    else
        setDrag(Drag::Pressed);
}

void TimelineMouse::move(const QMouseEvent& event)
{
    const QPointF at = event.position();
    const QPointF by = at - m_last;
    if (m_drag == Drag::Pressed && isFar(at) && m_pressed.x() > m_scene.headerWidth) {
        setDrag(Drag::Pan);
        m_area.viewport()->setCursor(Qt::ClosedHandCursor);
        m_scene.hovered.reset();
    }
    if (m_drag == Drag::Pressed && isFar(at) && m_pressedRow >= 0) {
        setDrag(Drag::Row);
        m_area.viewport()->setCursor(Qt::ClosedHandCursor);
    }
    if (m_drag == Drag::Row) {
        m_to.rows.drag(m_pressedRow, m_scene.rowsYAt(at.y()));
    } else if (m_drag == Drag::RowSize) {
        m_to.rows.resize(m_pressedRow, m_scene.rowsYAt(at.y()));
    } else if (m_drag == Drag::Pan) {
        m_to.navigation.pan(-by.x());
        QScrollBar* down = m_area.verticalScrollBar();
        down->setValue(down->value() - static_cast<int>(std::lround(by.y())));
    } else if (m_drag == Drag::Header) {
        m_scene.headerWidth = static_cast<int>(at.x());
        m_to.navigation.layOut();
    } else if (m_drag == Drag::Range && isFar(at)) {
        dragRange(at);
    }
    m_last = at;
    hover(at);
}

void TimelineMouse::dragRange(QPointF to)
{
    const auto bounds = m_scene.axis.bounds();
    const auto clamped = [&](double x) { return std::clamp(m_scene.timeAt(x), bounds.begin, bounds.end); };
    const auto a = clamped(m_pressed.x()), b = clamped(to.x());
    m_to.selection.setRange(TimeRange{std::min(a, b), std::max(a, b)});
}

void TimelineMouse::release(const QMouseEvent& event)
{
    m_area.viewport()->unsetCursor();
    const QPointF at = event.position();
    const Drag drag = m_drag;
    setDrag(Drag::None);
    if (drag == Drag::Row)
        m_to.rows.drop(m_pressedRow, m_scene.rowsYAt(at.y()));
    if (drag == Drag::RowSize)
        m_to.rows.endResize();
    if (m_scene.isEmpty())
        return;
    if (drag == Drag::Range && isFar(at)) {
        dragRange(at);
        if (m_scene.range && !m_scene.range->empty())
            m_to.selection.select(*m_scene.range);
        else
            m_to.selection.setSlice({});
    } else if (event.button() == Qt::MiddleButton && drag == Drag::Pressed && !isFar(at)) {
        if (m_scene.hovered)
            m_to.cards.pin();
    } else if (drag == Drag::Pressed || drag == Drag::Range) {
        click(at, event.modifiers().testFlag(Qt::ControlModifier));
    }
}

/// @param adds  adds to the selected slices
void TimelineMouse::click(QPointF at, bool adds)
{
    const int row = rowAt(m_scene, at.y());
    if (row >= 0)
        m_scene.currentRow = row;
    const auto isHeading = [&](TrackRow::Kind kind) {
        return kind == TrackRow::Kind::Group || kind == TrackRow::Kind::Hidden;
    };
    if (row >= 0 && (at.x() < m_scene.headerWidth || isHeading(m_scene.rows.at(row).kind)))
        return m_to.rows.toggleRow();
    if (clickStep(at, adds))
        return;
    if (const auto slice = sliceAt(m_scene, at))
        selectOrAdd(*slice, adds);
    else if (!adds && m_scene.selectedTime())
        m_to.selection.clear();
}

void TimelineMouse::selectOrAdd(const Slice& slice, bool adds)
{
    if (adds)
        m_to.selection.toggle(slice);
    else
        m_to.selection.select(slice);
}

/// Selects the step on the ruler at a position; false: there is none.
bool TimelineMouse::clickStep(QPointF at, bool adds)
{
    const int y = static_cast<int>(at.y()) - TimelineScene::kRulerHeight;
    if (y >= 0 || y < -TimelineScene::kStepsHeight || !m_scene.hasSteps())
        return false;
    const auto* step = stepAt(*m_scene.steps, m_scene.timeAt(at.x()));
    if (!step)
        return false;
    // The slice of an inferred step is only the first one in it.
    if (step->found || !holds(*m_scene.trace, step->slice))
        m_to.selection.select(step->range);
    else
        selectOrAdd(m_scene.trace->slice(step->slice), adds);
    return true;
}

void TimelineMouse::doubleClick(const QMouseEvent& event)
{
    if (m_scene.isEmpty() || event.position().x() < m_scene.headerWidth)
        return press(event);
    if (const auto slice = sliceAt(m_scene, event.position())) {
        m_to.selection.select(*slice);
        m_to.navigation.zoomToSelected();
    }
}

void TimelineMouse::hover(QPointF at)
{
    m_scene.pointer = at;
    m_scene.pointerInside = m_scene.lanesRect().contains(at.toPoint());
    if (m_drag == Drag::None) {
        m_scene.hovered = sliceAt(m_scene, at);
        m_area.viewport()->setCursor(m_scene.isEmpty()                 ? Qt::ArrowCursor
                                     : isHeaderEdgeAt(m_scene, at)     ? Qt::SplitHCursor
                                     : rowWithEdgeAt(m_scene, at) >= 0 ? Qt::SplitVCursor
                                                                       : Qt::ArrowCursor);
    }
    m_area.viewport()->update();
}

void TimelineMouse::leave()
{
    m_scene.pointerInside = false;
    m_scene.hovered.reset();
    m_area.viewport()->update();
}

bool TimelineMouse::gesture(const QNativeGestureEvent& event)
{
    if (m_scene.isEmpty() || event.gestureType() != Qt::ZoomNativeGesture)
        return false;
    m_to.navigation.zoomAt(event.position().x() - m_scene.headerWidth, std::exp(event.value()));
    return true;
}

void TimelineMouse::wheel(QWheelEvent& event)
{
    event.accept();
    if (m_scene.isEmpty())
        return;
    // Pixel deltas of a mouse are unreliable on X11; those of a trackpad gesture are reliable.
    const bool pad = !event.pixelDelta().isNull() && (event.phase() != Qt::NoScrollPhase ||
                                                      event.device()->type() == QInputDevice::DeviceType::TouchPad);
    const bool zooming = event.modifiers().testFlag(Qt::ControlModifier);
    const bool overHeader = event.position().x() < m_scene.headerWidth;
    const QPointF notches = QPointF(event.angleDelta()) / QWheelEvent::DefaultDeltasPerStep;
    QScrollBar* down = m_area.verticalScrollBar();
    if (pad && !zooming) {
        if (event.pixelDelta().x() != 0)
            m_to.navigation.pan(-event.pixelDelta().x());
        down->setValue(down->value() - event.pixelDelta().y());
    } else if (overHeader) {
        down->setValue(down->value() - static_cast<int>(notches.y() * 3 * TrackRows::kLaneHeight));
    } else if (event.modifiers().testFlag(Qt::ShiftModifier) || (notches.y() == 0 && notches.x() != 0)) {
        m_to.navigation.pan(-(notches.x() + notches.y()) * m_scene.axis.width() * kWheelPan);
    } else {
        m_to.navigation.zoomAt(event.position().x() - m_scene.headerWidth, std::pow(kWheelZoom, notches.y()));
    }
    hover(event.position());
}

} // namespace app
