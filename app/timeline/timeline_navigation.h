#pragma once

#include "profiler/model/trace.h"

#include <QBasicTimer>
#include <QObject>
#include <optional>

class QAbstractScrollArea;

namespace app {

struct TimelineScene;

/// The visible part of a timeline: zooms and moves the time axis of its scene, scrolls its rows, keeps the scroll bars
/// up to date, and follows the end of a growing trace until the user moves.
class TimelineNavigation : public QObject {
    Q_OBJECT
public:
    /// @param area  the canvas: its scroll bars, and the viewport that is repainted
    TimelineNavigation(TimelineScene& scene, QAbstractScrollArea& area);

    [[nodiscard]] bool isFollowing() const { return m_follow; }
    void setFollow(bool follow) { m_follow = follow; }
    /// Takes the bounds of the scene's trace after it has become a later snapshot: follows its end, shows all of a file
    /// that is still being read, or keeps the visible range.
    void takeSnapshot();
    /// Takes the size of the viewport, and keeps the width of the headers within it.
    void layOut();
    /// Updates the scroll bars after a change of the rows, then emits moved().
    void update();
    void syncScrollBars();
    /// The scroll bars have moved. @param dx  as in QAbstractScrollArea::scrollContentsBy()
    void scrolled(int dx);

    /// Moves and zooms so that `range` fills most of the width; opens and scrolls to `track`.
    void bringIntoView(profiler::TimeRange range, std::optional<profiler::TrackId> track);
    /// Makes a slice visible; keeps the scale unless the slice is longer than the view.
    void bringIntoView(const profiler::Slice& slice);
    /// Shows exactly this range.
    void showRange(profiler::TimeRange range);
    void goToTime(profiler::TraceTime time);
    /// The range within which the view may move, see TimeAxis::setLimits().
    void setLimits(profiler::TimeRange limits);
    /// Width of the headers in pixels.
    void setHeaderWidth(int width);
    /// Opens and scrolls to a track without moving in time.
    void revealTrack(profiler::TrackId track, int depth);
    /// Scrolls until the lane of `depth` (or the whole row) is visible.
    void scrollToRow(int row, int depth);
    /// @param x  in pixels of the tracks; the time there stays
    void zoomAt(double x, double factor);
    void pan(double pixels);

    void zoomIn();
    void zoomOut();
    void panLeft();
    void panRight();
    void scrollUp();
    void scrollDown();
    void fitAll();
    void fit(); ///< the selection, or all if nothing is selected or the selection already fills the view
    void zoomToSelected();
    void goToBegin();
    void followEnd();

signals:
    /// The visible range, the rows or the width of the headers changed.
    void moved();
    /// Only the visible range changed, by the horizontal scroll bar.
    void scrolledAcross();

protected:
    void timerEvent(QTimerEvent* event) override;

private:
    [[nodiscard]] double zoomAnchor() const;

    TimelineScene& m_scene;
    QAbstractScrollArea& m_area;
    QBasicTimer m_rest; ///< runs out when zooming has stopped
    bool m_follow = false;
    bool m_syncing = false; ///< scroll bars are being updated from the scene
};

} // namespace app
