#pragma once

#include "profiler/model/trace.h"

#include <QPointF>

class QAbstractScrollArea;
class QMouseEvent;
class QNativeGestureEvent;
class QWheelEvent;

namespace app {

class PinnedCards;
class TimelineNavigation;
class TimelineRowCommands;
class TimelineSelection;
struct TimelineScene;

/// What the mouse and the trackpad do on a timeline: hover, click, drag, wheel and pinch.
class TimelineMouse {
public:
    /// What an action of the mouse changes.
    struct Targets {
        TimelineNavigation& navigation;
        TimelineSelection& selection;
        TimelineRowCommands& rows;
        PinnedCards& cards;
    };
    /// @param area  the canvas: its vertical scroll bar, and the viewport whose cursor is set
    TimelineMouse(TimelineScene& scene, Targets targets, QAbstractScrollArea& area);

    void press(const QMouseEvent& event);
    void move(const QMouseEvent& event);
    void release(const QMouseEvent& event);
    void doubleClick(const QMouseEvent& event);
    void wheel(QWheelEvent& event);
    /// Handles a gesture; false: it means nothing here.
    bool gesture(const QNativeGestureEvent& event);
    /// Updates what is under the pointer.
    void hover(QPointF at);
    void leave();
    /// Ends the drag of a row, because the rows are about to be replaced.
    void forgetRow();

private:
    enum class Drag { None, Pressed, Pan, Range, Header, Row, RowSize };

    void setDrag(Drag drag);
    void click(QPointF at, bool adds);
    bool clickStep(QPointF at, bool adds);
    void selectOrAdd(const profiler::Slice& slice, bool adds);
    void dragRange(QPointF to);
    [[nodiscard]] bool isFar(QPointF at) const;

    TimelineScene& m_scene;
    Targets m_to;
    QAbstractScrollArea& m_area;
    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    int m_pressedRow = -1; ///< row whose header is being dragged
};

} // namespace app
