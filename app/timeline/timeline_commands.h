#pragma once

#include "app/tables/filter_text.h"
#include "app/timeline/timeline_marks.h"
#include "app/timeline/track_rows.h"
#include "profiler/model/trace.h"

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

class QAbstractScrollArea;

// The parts of a timeline that carry out the user's commands on its selection, rows and marks.
namespace app {

class TimelineNavigation;
struct TimelineScene;

/// The selected slice and range of a timeline, and the commands that select another slice: its neighbours, parent and
/// child, and the other end of a flow.
class TimelineSelection : public QObject {
    Q_OBJECT
public:
    /// @param area  the canvas, whose viewport is repainted and whose accessible description is the selected slice
    TimelineSelection(TimelineScene& scene, TimelineNavigation& navigation, QAbstractScrollArea& area);

    /// Selects a slice without a signal. None, or one that the scene's trace does not contain: clears it.
    void setSlice(std::optional<profiler::SliceId> slice);
    /// Selects several slices without a signal; of an empty list or one slice, the same as setSlice().
    void setSlices(const std::vector<profiler::SliceId>& slices);
    /// Selects a range without a signal.
    void setRange(std::optional<profiler::TimeRange> range);
    /// The user selects a slice instead of a range.
    void select(const profiler::Slice& slice);
    /// The user adds a slice to the selected ones, or removes it.
    void toggle(const profiler::Slice& slice);
    /// The user selects a range instead of a slice.
    void select(profiler::TimeRange range);
    /// Selects a slice and brings it into view.
    void selectAndShow(const profiler::Slice& slice);
    void clear();

    void selectNext();
    void selectPrevious();
    void selectOuter(); ///< the parent of the selected slice
    void selectInner(); ///< the first child of the selected slice
    void selectView();  ///< the visible time range
    void addNext();     ///< adds the slice after the one that was selected last
    void addPrevious();
    void followFlow(); ///< selects the target of the selected slice's flow
    void followFlowBack();
    void goToOtherPass(); ///< from forward to backward or vice versa
    void toggleAllFlows();

signals:
    void sliceSelected(profiler::SliceId slice);
    void slicesSelected(const std::vector<profiler::SliceId>& slices);
    void rangeSelected(profiler::TimeRange range);
    void cleared();

private:
    void goAlong(bool forward);
    void add(const std::optional<profiler::Slice>& slice);
    [[nodiscard]] std::vector<profiler::SliceId> selectedIds() const;
    [[nodiscard]] std::optional<profiler::Slice> lastSelected() const;

    TimelineScene& m_scene;
    TimelineNavigation& m_navigation;
    QAbstractScrollArea& m_area;
};

/// The user's actions on the rows of a timeline: make one current, collapse, move, hide, pin and resize it.
class TimelineRowCommands : public QObject {
    Q_OBJECT
public:
    /// @param area  the canvas, whose viewport is repainted
    TimelineRowCommands(TimelineScene& scene, TimelineNavigation& navigation, QAbstractScrollArea& area);

    /// Sets the arrangement of the rows without a signal.
    void setLayout(RowLayout layout);
    /// Shows only matching tracks, without a signal. Empty: all.
    void setFilter(const Filter& filter);

    void rowUp();
    void rowDown();
    void toggleRow();
    void foldAll();
    void unfoldAll();
    void moveRowUp();
    void moveRowDown();
    void hideRow();
    void togglePin();
    void showRow(const QString& key);
    void showAllRows();
    void resetRows();

    // While the header of a row is dragged; y is within all rows. A row that does not exist any more is ignored.
    void resize(int row, int y); ///< its lower edge is at y
    void endResize();
    void drag(int row, int y); ///< shows where it would be dropped
    void drop(int row, int y);

signals:
    /// The user collapsed, moved, hid, pinned or resized rows.
    void layoutChanged();

private:
    template <class Edit>
    void edit(Edit&& change);
    void goToRow(int row);
    void moveRow(int by);
    [[nodiscard]] bool has(int row) const;

    TimelineScene& m_scene;
    TimelineNavigation& m_navigation;
    QAbstractScrollArea& m_area;
};

/// The user's actions on the marks and bookmarks of a timeline.
class TimelineMarkCommands : public QObject {
    Q_OBJECT
public:
    /// @param area  the canvas, whose viewport is repainted
    TimelineMarkCommands(TimelineScene& scene, TimelineNavigation& navigation, QAbstractScrollArea& area);

    /// Adds a bookmark, or changes the note of an existing one at that time.
    void setBookmark(profiler::TraceTime time, const QString& note);
    void setBookmarks(const std::vector<TimelineMark>& bookmarks);
    /// Removes all marks that are not bookmarks; false if there were none.
    bool clearPlain();

    void toggleMark();   ///< at the pointer; removes an existing one
    void editBookmark(); ///< the one at the pointer, or a new one
    void removeBookmark();
    void nextBookmark();
    void previousBookmark();

signals:
    /// The user wants a bookmark: ask for its note, then call setBookmark().
    void bookmarkWanted(profiler::TraceTime time, const QString& note);
    void bookmarksChanged();

private:
    [[nodiscard]] profiler::TraceTime placeMeant() const;
    [[nodiscard]] const TimelineMark* markMeant() const;

    TimelineScene& m_scene;
    TimelineNavigation& m_navigation;
    QAbstractScrollArea& m_area;
};

} // namespace app
