#pragma once

#include "app/widgets/kind_palette.h"
#include "app/widgets/label_cache.h"
#include "app/widgets/time_axis.h"
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
    ClassLookup classes;
    LabelCache labels;
    std::map<profiler::TrackId, std::vector<profiler::CounterSample>>
        counters; ///< of this snapshot, read when first shown

    QSize size;       ///< of the whole canvas, logical pixels
    double ratio = 1; ///< device pixels a logical one
    int headerWidth = 190;
    int scrollY = 0;
    bool focused = false;
    int currentRow = -1;

    std::optional<profiler::Slice> selected;
    std::vector<profiler::Flow> flows; ///< of the selected slice
    std::optional<profiler::TimeRange> range;
    std::optional<profiler::Slice> hovered;
    QPointF pointer;
    bool pointerInside = false;
    std::optional<profiler::TraceTime> mark;

    [[nodiscard]] QRect lanesRect() const
    {
        return {headerWidth, kRulerHeight, size.width() - headerWidth, size.height() - kRulerHeight};
    }
    [[nodiscard]] int yOf(int rowsY) const { return rowsY - scrollY + kRulerHeight; }
    [[nodiscard]] double xOf(profiler::TraceTime time) const { return headerWidth + axis.xOf(time); }
    [[nodiscard]] profiler::TraceTime timeAt(double x) const { return axis.timeAt(x - headerWidth); }
    /// Where a slice is drawn, in the canvas' coordinates, unclipped; its row's heading where it is folded away. Empty
    /// when no row shows its track.
    [[nodiscard]] QRectF rectOf(const profiler::Slice& slice) const;
    /// The track that holds the steps; none without a main thread.
    [[nodiscard]] std::optional<profiler::TrackId> stepTrack() const;
    /// Samples of a counter, read once a snapshot.
    const std::vector<profiler::CounterSample>& samples(profiler::TrackId counter);
};

} // namespace app
