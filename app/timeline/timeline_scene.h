#pragma once

#include "app/charts/counter_series.h"
#include "app/charts/time_axis.h"
#include "app/document/device_gaps.h"
#include "app/document/selection.h"
#include "app/look/timeline_theme.h"
#include "app/timeline/label_cache.h"
#include "app/timeline/slice_colors.h"
#include "app/timeline/timeline_find.h"
#include "app/timeline/timeline_flows.h"
#include "app/timeline/timeline_marks.h"
#include "app/timeline/timeline_steps.h"
#include "app/timeline/track_rows.h"
#include "profiler/model/trace.h"

#include <QPointF>
#include <QRectF>
#include <QSize>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace app {

/// The state of a timeline frame: what is drawn, not how events change it.
struct TimelineScene {
    static constexpr int kAxisHeight = 22;
    static constexpr int kStepsHeight = 20;
    static constexpr int kRulerHeight = kAxisHeight + kStepsHeight;

    std::shared_ptr<const profiler::Trace> trace;
    TimeAxis axis; ///< pixel 0 is the left edge of the tracks
    TrackRows rows;
    TimelineTheme theme;
    SliceColors colors; ///< of `trace`
    LabelCache labels;
    std::map<profiler::TrackId, CounterSeries> counters; ///< of counters shown before; samples() reads new ones

    QSize size;       ///< size of the whole canvas in logical pixels
    double ratio = 1; ///< device pixels per logical pixel
    int headerWidth = 190;
    int scrollY = 0;
    bool focused = false;
    bool zooming = false; ///< zooming is in progress: lanes are drawn from coarser sums
    int currentRow = -1;
    int draggedRow = -1;         ///< row being dragged by its header
    std::optional<int> dropLine; ///< drop position, within all rows
    bool resizingRow = false;    ///< a row's lower edge is being dragged

    std::shared_ptr<const FindHits> hits;      ///< search matches; null: no search
    std::shared_ptr<const MarkedItems> marked; ///< null: none
    std::optional<profiler::Slice> selected;
    std::vector<profiler::Slice> several;   ///< the selected slices if they are more than one
    std::vector<FlowArrow> flows;           ///< arrows of the selected slice
    bool allFlows = false;                  ///< also those of all visible slices
    std::shared_ptr<const DeviceGaps> gaps; ///< null until analysed
    std::shared_ptr<const Steps> steps;     ///< null while unknown
    std::optional<profiler::TimeRange> range;
    std::optional<profiler::Slice> hovered;
    QPointF pointer;
    bool pointerInside = false;
    TimelineMarks marks;

    /// There is no trace, or it has no events.
    [[nodiscard]] bool isEmpty() const { return !trace || axis.bounds().empty(); }
    [[nodiscard]] QRect lanesRect() const
    {
        return {headerWidth, kRulerHeight, size.width() - headerWidth, size.height() - kRulerHeight};
    }
    /// Height of the pinned rows; 0 if they would leave no space for others and therefore scroll with them.
    [[nodiscard]] int pinnedHeight() const;
    /// The time of the selected slice, from the first start to the last end of several slices, or the selected range.
    [[nodiscard]] std::optional<profiler::TimeRange> selectedTime() const;
    /// The scrolling part of the tracks (and of their headers).
    [[nodiscard]] QRect scrolledRect() const { return fullWidth().adjusted(0, pinnedHeight(), 0, 0); }
    /// The pinned part.
    [[nodiscard]] QRect pinnedRect() const;
    /// y in the canvas for a y within all rows that belongs to `row`.
    [[nodiscard]] int yOf(const TrackRow& row, int rowsY) const
    {
        return rowsY + kRulerHeight - (row.pinned && pinnedHeight() > 0 ? 0 : scrollY);
    }
    [[nodiscard]] int topOf(const TrackRow& row) const { return yOf(row, row.top); }
    /// y within all rows for a y in the canvas, below the ruler.
    [[nodiscard]] int rowsYAt(double y) const;
    /// True if any part of the row is visible.
    [[nodiscard]] bool inView(const TrackRow& row) const;
    [[nodiscard]] double xOf(profiler::TraceTime time) const { return headerWidth + axis.xOf(time); }
    [[nodiscard]] profiler::TraceTime timeAt(double x) const { return axis.timeAt(x - headerWidth); }
    /// Rectangle of a slice in canvas coordinates, unclipped; the heading of its row if it is collapsed. Empty if no
    /// row shows its track.
    [[nodiscard]] QRectF rectOf(const profiler::Slice& slice) const;
    [[nodiscard]] bool hasSteps() const { return steps && !steps->empty(); }
    /// Samples of a counter, read once per snapshot.
    const CounterSeries& samples(profiler::TrackId counter);

private:
    [[nodiscard]] QRect fullWidth() const { return {0, kRulerHeight, size.width(), size.height() - kRulerHeight}; }
};

} // namespace app
