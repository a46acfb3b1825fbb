#pragma once

#include "app/charts/counter_series.h"
#include "app/charts/time_axis.h"
#include "app/document/selection.h"
#include "app/document/trace_summary.h"
#include "app/look/theme.h"
#include "app/tables/table_field.h"
#include "app/timeline/label_cache.h"
#include "app/timeline/slice_colors.h"
#include "app/timeline/slice_search.h"
#include "app/timeline/timeline_marks.h"
#include "app/timeline/track_rows.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QPointF>
#include <QRectF>
#include <QSize>
#include <QString>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

// What a timeline shows: the known steps, the state of a frame, and what is at a position of it.
namespace app {

/// The steps that overlap a window; `steps` must be sorted by start and must not overlap.
std::span<const profiler::analysis::Step> stepsIn(const Steps& steps, profiler::TimeRange window);
/// "step 12".
QString stepTitle(const profiler::analysis::Step& step);
/// Position of a time relative to the last step that started before it: "step 12 + 3.10 ms"; empty before the first.
QString stepPlace(const Steps& steps, profiler::TraceTime time);
/// A range in steps, "0.42 steps"; empty if it starts before the first.
QString stepSpan(const Steps& steps, profiler::TimeRange range);

/// The steps of a growing trace: those of the analysis of an earlier snapshot, plus newer step marks, so that the
/// newest steps are on the ruler while an analysis is running. For the added steps only range, index and slice are
/// known.
class KnownSteps {
public:
    /// Null while unknown. Valid until the next call of this class.
    [[nodiscard]] const std::shared_ptr<const Steps>& steps() const { return m_steps; }
    void clear();
    /// Sets the steps of an analysis of `trace` or of an earlier snapshot. An analysis of a live trace without steps
    /// came before the first step and is ignored.
    void take(const profiler::Trace& trace, std::shared_ptr<const Steps> found);
    /// Adds new steps of `trace`, a few hundred per call, unless it is complete or its steps do not come from marks.
    /// The cost is proportional to the added steps, and once after each take() to all of them.
    void follow(const profiler::Trace& trace);

private:
    std::shared_ptr<const Steps> m_steps;
    std::shared_ptr<Steps> m_own; ///< the same including added steps; otherwise null
};

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

// What is at a position of the canvas, in logical pixels. Nothing of an empty scene.

/// The slice at a position, or the nearest one of the same lane within a few pixels.
[[nodiscard]] std::optional<profiler::Slice> sliceAt(const TimelineScene& scene, QPointF at);
/// The row at a height, in the tracks and in their headers; −1: none.
[[nodiscard]] int rowAt(const TimelineScene& scene, double y);
/// The resizable row whose lower edge is at a position in the header; −1: none.
[[nodiscard]] int rowWithEdgeAt(const TimelineScene& scene, QPointF at);
/// True at the edge between headers and tracks, where the headers can be resized.
[[nodiscard]] bool isHeaderEdgeAt(const TimelineScene& scene, QPointF at);

} // namespace app
