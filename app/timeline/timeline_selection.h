#pragma once

#include "profiler/model/trace.h"

#include <QObject>
#include <optional>
#include <vector>

class QAbstractScrollArea;

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

} // namespace app
