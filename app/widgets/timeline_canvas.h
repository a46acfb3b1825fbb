#pragma once

#include "app/widgets/timeline_painter.h"
#include "app/widgets/timeline_scene.h"

#include <QAbstractScrollArea>
#include <QBasicTimer>
#include <memory>
#include <optional>

class QMenu;

namespace app {

/// The timeline: tracks of a trace over time, under the hands that ui.md describes. Work on the GUI thread is bounded
/// by pixels, however many slices the trace has. Knows nothing of the session: a view connects it.
class TimelineCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TimelineCanvas(QWidget* parent = nullptr);

    /// Another trace: shows all of it, forgets selection and marks. Null or empty: the empty state.
    void setTrace(std::shared_ptr<const profiler::Trace> trace);
    /// A later snapshot of the same trace; keeps what is shown, or follows the end while nobody moved.
    void updateTrace(std::shared_ptr<const profiler::Trace> trace);

    void setSelectedSlice(std::optional<profiler::SliceId> slice);
    void setSelectedRange(std::optional<profiler::TimeRange> range);
    /// Moves and zooms so that `range` fills most of the width; opens and scrolls to `track`.
    void bringIntoView(profiler::TimeRange range, std::optional<profiler::TrackId> track = {});
    /// Shows exactly this part of the trace: what a hand on the overview asks for.
    void showRange(profiler::TimeRange range);

    /// How the user arranged the rows; outlives the trace. Emits nothing.
    void setRowLayout(RowLayout layout);
    /// Marks what a search found; null: nothing.
    void setHits(std::shared_ptr<const FindHits> hits);
    /// Hatches when devices were idle; null: not known.
    void setGaps(std::shared_ptr<const DeviceGaps> gaps);
    /// Steps for the ruler, by begin, not overlapping; those of an earlier snapshot too. Null: not known.
    void setSteps(std::shared_ptr<const Steps> steps);
    /// A training was started whose events are to come, and what it does until then; empty: none was.
    void setComing(const QString& what);
    struct Words {
        QString title, below;
    };
    /// What stands in the place of a trace that shows nothing.
    [[nodiscard]] Words wordsWhileEmpty() const;
    void setColorBy(ColorBy by);
    void colorByKind() { setColorBy(ColorBy::Kind); }
    void colorByName() { setColorBy(ColorBy::Name); }
    void colorByOp() { setColorBy(ColorBy::Op); }
    /// What is on screen as an image with so many device pixels a logical one, without what follows the pointer.
    [[nodiscard]] QImage picture(double ratio) const;
    /// The same as SVG: slices are rectangles, names are text.
    [[nodiscard]] QByteArray svg() const;
    /// Selects a slice and brings it into view; tells by sliceSelected().
    void selectAndShow(const profiler::Slice& slice);
    void goToTime(profiler::TraceTime time);
    /// Adds a bookmark or changes the note of the one at that time.
    void setBookmark(profiler::TraceTime time, const QString& note);
    void setBookmarks(const std::vector<TimelineMark>& bookmarks);
    [[nodiscard]] const RowLayout& rowLayout() const { return m_scene.rows.layout(); }

    [[nodiscard]] const TimelineScene& scene() const { return m_scene; }
    /// The last frame was as exact as the trace is: no zoom goes on, and no lane was left for the next frame.
    [[nodiscard]] bool isExact() const { return !m_scene.zooming && m_painter.isSettled(); }
    [[nodiscard]] bool following() const { return m_follow; }

    // What the hands do; each is a QAction of actions() with its key.
    void zoomIn();
    void zoomOut();
    void panLeft();
    void panRight();
    void scrollUp();
    void scrollDown();
    void fitAll();
    void fit(); ///< the selection, or all without one or when the selection fills the screen already
    void goToBegin();
    void followEnd();
    void toggleMark();   ///< at the pointer; lets an existing one go
    void letGo();        ///< of the marks, then of the selection
    void editBookmark(); ///< the one at the pointer, or a new one
    void removeBookmark();
    void nextBookmark();
    void previousBookmark();
    void followFlow(); ///< selects what the selected slice led to
    void followFlowBack();
    void goToOtherPass(); ///< from forward to backward or back
    void toggleAllFlows();
    void zoomToSelected();
    void selectNext();
    void selectPrevious();
    void selectOuter(); ///< what the selected slice lies in
    void selectInner(); ///< the first slice within the selected one
    void selectView();  ///< the range of time in view
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
    void followingChanged(bool following);
    /// Another part of the trace is on screen, or the header has another width.
    void viewChanged();
    /// A hand has folded, moved, hidden, pinned or resized rows.
    void rowLayoutChanged();
    /// Somebody wants a bookmark: ask for its note, then setBookmark().
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
    void dropRow(QPointF at);
    void zoomAt(double x, double factor);
    void pan(double pixels);
    void paintEmpty(QPainter& painter) const;

    TimelineScene m_scene;
    KnownSteps m_steps; ///< the scene shows them
    TimelinePainter m_painter;
    QBasicTimer m_rest; ///< runs out when no more zooming follows
    QString m_coming;   ///< what a training does that has recorded nothing yet; empty: there is none
    bool m_follow = false;
    bool m_syncing = false; ///< scroll bars are being set from the scene
    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    int m_pressedRow = -1; ///< whose header is dragged
};

} // namespace app
