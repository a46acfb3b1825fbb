#pragma once

#include "app/models/device_gaps.h"
#include "app/widgets/counter_series.h"
#include "app/widgets/label_cache.h"
#include "app/widgets/slice_colors.h"
#include "app/widgets/time_axis.h"
#include "app/widgets/timeline_find.h"
#include "app/widgets/timeline_flows.h"
#include "app/widgets/timeline_marks.h"
#include "app/widgets/timeline_steps.h"
#include "app/widgets/timeline_theme.h"
#include "app/widgets/track_rows.h"
#include "profiler/model/trace.h"

#include <QPointF>
#include <QRectF>
#include <QSize>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace app {

/// All that a frame of the timeline shows: what is drawn, not how events change it.
struct TimelineScene {
    static constexpr int kAxisHeight = 22;
    static constexpr int kStepsHeight = 20;
    static constexpr int kRulerHeight = kAxisHeight + kStepsHeight;

    std::shared_ptr<const profiler::Trace> trace;
    TimeAxis axis; ///< its pixel 0 is the left edge of the lanes
    TrackRows rows;
    TimelineTheme theme;
    SliceColors colors; ///< of `trace`
    LabelCache labels;
    std::map<profiler::TrackId, CounterSeries> counters; ///< of those shown before; samples() reads what is new

    QSize size;       ///< of the whole canvas, logical pixels
    double ratio = 1; ///< device pixels a logical one
    int headerWidth = 190;
    int scrollY = 0;
    bool focused = false;
    bool zooming = false; ///< the scale has just changed and may again: lanes are drawn from coarser sums
    int currentRow = -1;
    int draggedRow = -1;         ///< by its header
    std::optional<int> dropLine; ///< where it would come to stand, within all rows

    std::shared_ptr<const FindHits> hits; ///< of the search; null while there is none
    std::optional<profiler::Slice> selected;
    std::vector<FlowArrow> flows;           ///< of the selected slice
    bool allFlows = false;                  ///< those of all slices in view too
    std::shared_ptr<const DeviceGaps> gaps; ///< null until an analysis gave them
    std::shared_ptr<const Steps> steps;     ///< null while they are not known
    std::optional<profiler::TimeRange> range;
    std::optional<profiler::Slice> hovered;
    QPointF pointer;
    bool pointerInside = false;
    TimelineMarks marks;

    [[nodiscard]] QRect lanesRect() const
    {
        return {headerWidth, kRulerHeight, size.width() - headerWidth, size.height() - kRulerHeight};
    }
    /// Height of the pinned rows that stay; 0 where they would leave no room for others and scroll with them.
    [[nodiscard]] int pinnedHeight() const;
    /// The part of the lanes (and of their headers) that scrolls.
    [[nodiscard]] QRect scrolledRect() const { return fullWidth().adjusted(0, pinnedHeight(), 0, 0); }
    /// The part that stays.
    [[nodiscard]] QRect pinnedRect() const;
    /// y in the canvas of a place within all rows that belongs to `row`.
    [[nodiscard]] int yOf(const TrackRow& row, int rowsY) const
    {
        return rowsY + kRulerHeight - (row.pinned && pinnedHeight() > 0 ? 0 : scrollY);
    }
    [[nodiscard]] int topOf(const TrackRow& row) const { return yOf(row, row.top); }
    /// Place within all rows of a y in the canvas, below the ruler.
    [[nodiscard]] int rowsYAt(double y) const;
    /// Any part of the row is on screen.
    [[nodiscard]] bool inView(const TrackRow& row) const;
    [[nodiscard]] double xOf(profiler::TraceTime time) const { return headerWidth + axis.xOf(time); }
    [[nodiscard]] profiler::TraceTime timeAt(double x) const { return axis.timeAt(x - headerWidth); }
    /// Where a slice is drawn, in the canvas' coordinates, unclipped; its row's heading where it is folded away. Empty
    /// when no row shows its track.
    [[nodiscard]] QRectF rectOf(const profiler::Slice& slice) const;
    [[nodiscard]] bool hasSteps() const { return steps && !steps->empty(); }
    /// Samples of a counter, read once a snapshot.
    const CounterSeries& samples(profiler::TrackId counter);

private:
    [[nodiscard]] QRect fullWidth() const { return {0, kRulerHeight, size.width(), size.height() - kRulerHeight}; }
};

} // namespace app
