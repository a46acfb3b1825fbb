#pragma once

#include "app/document/trace_pair.h"
#include "profiler/model/clock.h"

#include <QObject>
#include <memory>
#include <optional>

class QEvent;
class QMouseEvent;
class QWidget;

namespace app {

class TimelineCanvas;
class TracePair;

/// Connects a timeline with the common axis of two traces: reports its movements, follows those of the other timeline,
/// adds the action that marks a position for the alignment, and reports which timeline the user uses. A drag with Ctrl
/// in the second timeline shifts it against the first. Owned by the canvas.
class ViewportLink : public QObject {
    Q_OBJECT
public:
    /// The pair must outlive the canvas.
    /// @param view  contains the canvas and what belongs to it: with the focus in there, its timeline is the active one
    ViewportLink(TimelineCanvas* canvas, TracePair* pair, Side side, QWidget* view);

    /// Shows the common range. Call after TimelineCanvas::setTrace().
    void apply();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addMarkAction();
    void showView();
    void showPairing();
    void report();
    void activate();
    [[nodiscard]] bool startDrag(const QMouseEvent& event);
    void drag(const QMouseEvent& event);
    void endDrag();

    /// A press with Ctrl in the second timeline: a drag that shifts it, or a click of the timeline.
    struct Shifting {
        std::unique_ptr<QEvent> press;
        double x = 0; ///< of the press
        profiler::Nanoseconds shift{};
        bool moved = false;
    };
    TimelineCanvas* m_canvas;
    TracePair* m_pair;
    Side m_side;
    bool m_showing = false;   ///< the movement is not the user's
    bool m_replaying = false; ///< the timeline gets the press of a click
    std::optional<Shifting> m_shifting;
};

} // namespace app
