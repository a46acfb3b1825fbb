#pragma once

#include "app/timeline/timeline_commands.h"
#include "app/timeline/timeline_mouse.h"
#include "app/timeline/timeline_navigation.h"
#include "app/timeline/timeline_overlay.h"
#include "app/timeline/timeline_painter.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

class QLineEdit;
class QMenu;

namespace app {

/// The timeline: tracks of a trace over time. A widget that owns one scene, draws it, and passes events and commands to
/// its parts: navigation, selection, rows, marks and mouse. Work on the GUI thread is bounded by pixels, not by the
/// number of slices. Independent of documents: a view connects them.
class TimelineCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TimelineCanvas(QWidget* parent = nullptr);

    /// Sets a different trace: shows all of it, clears selection and marks. Null or empty: the empty state.
    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Sets a later snapshot of the same trace; keeps the visible range, or follows the end if the user has not moved.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Draws the same trace again: more of it can be read now.
    void reread();

    void setSelectedSlice(std::optional<profiler::SliceId> slice) { m_selection.setSlice(slice); }
    void setSelectedSlices(const std::vector<profiler::SliceId>& slices) { m_selection.setSlices(slices); }
    void setSelectedRange(std::optional<profiler::TimeRange> range) { m_selection.setRange(range); }
    /// Moves and zooms so that `range` fills most of the width; opens and scrolls to `track`.
    void bringIntoView(profiler::TimeRange range, std::optional<profiler::TrackId> track = {})
    {
        m_navigation.bringIntoView(range, track);
    }
    /// Shows exactly this range, as requested in the overview.
    void showRange(profiler::TimeRange range) { m_navigation.showRange(range); }
    /// The range within which the view may move, see TimeAxis::setLimits(). Until setTrace().
    void setLimits(profiler::TimeRange limits) { m_navigation.setLimits(limits); }
    /// Width of the track names in pixels.
    void setHeaderWidth(int width) { m_navigation.setHeaderWidth(width); }
    /// Opens and scrolls to a track without moving in time.
    void revealTrack(profiler::TrackId track, int depth) { m_navigation.revealTrack(track, depth); }

    /// The user's arrangement of the rows; outlives the trace. Emits nothing.
    void setRowLayout(RowLayout layout) { m_rows.setLayout(std::move(layout)); }
    /// Marks search matches; null: none.
    void setHits(std::shared_ptr<const FindHits> hits);
    void setMarked(std::shared_ptr<const MarkedItems> marked);
    /// Hatches idle intervals of devices; null: unknown.
    void setGaps(std::shared_ptr<const DeviceGaps> gaps);
    /// Steps for the ruler, sorted by start, not overlapping; may be from an earlier snapshot. Null: unknown.
    void setSteps(std::shared_ptr<const Steps> steps);
    struct EmptyText {
        QString title, below;
    };
    /// What is being done for a trace that has no events yet; an empty title: nothing.
    void setComing(const EmptyText& what);
    /// The text shown instead of an empty trace.
    [[nodiscard]] EmptyText emptyText() const;
    void setColorBy(ColorBy by);
    void colorByKind() { setColorBy(ColorBy::Kind); }
    void colorByName() { setColorBy(ColorBy::Name); }
    void colorByOp() { setColorBy(ColorBy::Op); }
    /// The visible part as an image with the given device pixel ratio, without elements that follow the pointer.
    [[nodiscard]] QImage picture(double ratio) const;
    /// The same as SVG: slices are rectangles, names are text.
    [[nodiscard]] QByteArray svg() const;
    /// Selects a slice and brings it into view; emits sliceSelected().
    void selectAndShow(const profiler::Slice& slice) { m_selection.selectAndShow(slice); }
    void goToTime(profiler::TraceTime time) { m_navigation.goToTime(time); }
    /// Adds a bookmark, or changes the note of an existing one at that time.
    void setBookmark(profiler::TraceTime time, const QString& note) { m_marks.setBookmark(time, note); }
    void setBookmarks(const std::vector<TimelineMark>& bookmarks) { m_marks.setBookmarks(bookmarks); }
    [[nodiscard]] const RowLayout& rowLayout() const { return m_scene.rows.layout(); }

    [[nodiscard]] const TimelineScene& scene() const { return m_scene; }
    /// The last frame was exact: no zoom is in progress, and no lane was deferred to the next frame.
    [[nodiscard]] bool isExact() const { return !m_scene.zooming && m_painter.isSettled(); }

    /// The parts that carry out the user's commands; each command is a QAction of actions() with its shortcut.
    [[nodiscard]] TimelineNavigation& navigation() { return m_navigation; }
    [[nodiscard]] TimelineSelection& selection() { return m_selection; }
    [[nodiscard]] TimelineRowCommands& rows() { return m_rows; }
    [[nodiscard]] TimelineMarkCommands& marks() { return m_marks; }
    [[nodiscard]] PinnedCards& cards() { return m_cards; }
    void letGo();        ///< closes the last pinned tooltip; if there is none, clears the marks, and then the selection
    void filterTracks(); ///< moves the focus to the filter of the tracks

signals:
    void sliceSelected(profiler::SliceId slice);
    /// The user collected several slices.
    void slicesSelected(const std::vector<profiler::SliceId>& slices);
    void rangeSelected(profiler::TimeRange range);
    void selectionCleared();
    /// The visible range or the width of the header changed.
    void viewChanged();
    /// The user collapsed, moved, hid, pinned or resized rows.
    void rowLayoutChanged();
    /// The user wants a bookmark: ask for its note, then call setBookmark().
    void bookmarkWanted(profiler::TraceTime time, const QString& note);
    void bookmarksChanged();
    void findWanted();
    void findNextWanted();
    void findPreviousWanted();
    void goToWanted();
    void keysWanted();
    void copyWanted();
    void saveWanted();
    /// The user wants to see this line of a source file, which the trace names.
    void sourceWanted(const QString& file, int line);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void takeTrackFilter();
    void placeTrackFilter();
    void showMove();
    void addRowEntries(QMenu& menu, int row);
    void addSourceEntry(QMenu& menu, const std::optional<profiler::Slice>& slice);
    void paintEmpty(QPainter& painter) const;

    TimelineScene m_scene;
    TimelineNavigation m_navigation;
    TimelineSelection m_selection;
    TimelineRowCommands m_rows;
    TimelineMarkCommands m_marks;
    PinnedCards m_cards;
    TimelineMouse m_mouse;
    QLineEdit* m_trackFilter;
    KnownSteps m_steps; ///< shown in the scene
    TimelinePainter m_painter;
    EmptyText m_coming; ///< what is being done for a trace without events; empty: nothing
};

} // namespace app
