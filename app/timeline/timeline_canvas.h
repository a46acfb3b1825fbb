#pragma once

#include "app/timeline/timeline_painter.h"
#include "app/timeline/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QBasicTimer>
#include <memory>
#include <optional>

class QMenu;

namespace app {

/// The timeline: tracks of a trace over time, with the controls described in ui.md. Work on the GUI thread is bounded
/// by pixels, not by the number of slices. Independent of documents: a view connects them.
class TimelineCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TimelineCanvas(QWidget* parent = nullptr);

    /// Sets a different trace: shows all of it, clears selection and marks. Null or empty: the empty state.
    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// Sets a later snapshot of the same trace; keeps the visible range, or follows the end if the user has not moved.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);

    void setSelectedSlice(std::optional<profiler::SliceId> slice);
    void setSelectedRange(std::optional<profiler::TimeRange> range);
    /// Moves and zooms so that `range` fills most of the width; opens and scrolls to `track`.
    void bringIntoView(profiler::TimeRange range, std::optional<profiler::TrackId> track = {});
    /// Shows exactly this range, as requested in the overview.
    void showRange(profiler::TimeRange range);

    /// The user's arrangement of the rows; outlives the trace. Emits nothing.
    void setRowLayout(RowLayout layout);
    /// Marks search matches; null: none.
    void setHits(std::shared_ptr<const FindHits> hits);
    void setMarked(std::shared_ptr<const MarkedItems> marked);
    /// Hatches idle intervals of devices; null: unknown.
    void setGaps(std::shared_ptr<const DeviceGaps> gaps);
    /// Steps for the ruler, sorted by start, not overlapping; may be from an earlier snapshot. Null: unknown.
    void setSteps(std::shared_ptr<const Steps> steps);
    /// The current activity of a training that has not recorded events yet; empty: none.
    void setComing(const QString& what);
    struct EmptyText {
        QString title, below;
    };
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
    void selectAndShow(const profiler::Slice& slice);
    void goToTime(profiler::TraceTime time);
    /// Adds a bookmark, or changes the note of an existing one at that time.
    void setBookmark(profiler::TraceTime time, const QString& note);
    void setBookmarks(const std::vector<TimelineMark>& bookmarks);
    [[nodiscard]] const RowLayout& rowLayout() const { return m_scene.rows.layout(); }

    [[nodiscard]] const TimelineScene& scene() const { return m_scene; }
    /// The last frame was exact: no zoom is in progress, and no lane was deferred to the next frame.
    [[nodiscard]] bool isExact() const { return !m_scene.zooming && m_painter.isSettled(); }
    [[nodiscard]] bool following() const { return m_follow; }

    // User commands; each is a QAction of actions() with its shortcut.
    void zoomIn();
    void zoomOut();
    void panLeft();
    void panRight();
    void scrollUp();
    void scrollDown();
    void fitAll();
    void fit(); ///< the selection, or all if nothing is selected or the selection already fills the view
    void goToBegin();
    void followEnd();
    void toggleMark();   ///< at the pointer; removes an existing one
    void letGo();        ///< first the marks, then the selection
    void editBookmark(); ///< the one at the pointer, or a new one
    void removeBookmark();
    void nextBookmark();
    void previousBookmark();
    void followFlow(); ///< selects the target of the selected slice's flow
    void followFlowBack();
    void goToOtherPass(); ///< from forward to backward or vice versa
    void toggleAllFlows();
    void zoomToSelected();
    void selectNext();
    void selectPrevious();
    void selectOuter(); ///< the parent of the selected slice
    void selectInner(); ///< the first child of the selected slice
    void selectView();  ///< the visible time range
    void rowUp();
    void rowDown();
    void toggleRow();
    void foldAll();
    void unfoldAll();
    void moveRowUp();
    void moveRowDown();
    void hideRow();
    void togglePin();
    void showAllRows();
    void resetRows();

signals:
    void sliceSelected(profiler::SliceId slice);
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
    void timerEvent(QTimerEvent* event) override;

private:
    enum class Drag { None, Pressed, Pan, Range, Header, Row, RowSize };

    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] bool onHeaderEdge(QPointF at) const;
    [[nodiscard]] std::optional<profiler::Slice> sliceAt(QPointF at) const;
    [[nodiscard]] double zoomAnchor() const;
    void layOut();
    void syncScrollBars();
    void moved();
    void setFollow(bool follow);
    void hover(QPointF at);
    void click(QPointF at);
    void dragRange(QPointF to);
    void scrollToRow(int row, int depth);
    void goToRow(int row);
    void addRowEntries(QMenu& menu, int row);
    void showRow(const QString& key);
    [[nodiscard]] int rowAt(double y) const;
    [[nodiscard]] int rowWithEdgeAt(QPointF at) const;
    [[nodiscard]] profiler::TraceTime placeMeant() const;
    [[nodiscard]] const TimelineMark* markMeant() const;
    void goAlong(bool forward);
    template <class Edit>
    void editRows(Edit&& edit);
    void moveRow(int by);
    void dragRow(QPointF to);
    void dropRow(QPointF at, bool sized);
    void zoomAt(double x, double factor);
    void pan(double pixels);
    void paintEmpty(QPainter& painter) const;

    TimelineScene m_scene;
    KnownSteps m_steps; ///< shown in the scene
    TimelinePainter m_painter;
    QBasicTimer m_rest; ///< runs out when zooming has stopped
    QString m_coming;   ///< activity of a training that has not recorded anything yet; empty: none
    bool m_follow = false;
    bool m_syncing = false; ///< scroll bars are being updated from the scene
    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    int m_pressedRow = -1; ///< row whose header is being dragged
};

} // namespace app
