#pragma once

#include "app/charts/time_axis.h"
#include "profiler/model/colored_buckets.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace app {

/// Caches the buckets of the lanes of the last frames, so that a pan by whole pixels reads only the new part, and
/// continuous zooming reads only every few frames. A frame reads for a limited time only: the remaining lanes are shown
/// from another scale or from coarser sums, and read in the next frames.
class LodCache {
public:
    /// @param time  time limit per frame for reading lanes; the first lane is always read
    void setReadingTime(std::chrono::nanoseconds time) { m_time = time; }
    /// Starts a frame and drops unusable entries.
    /// @param width  device pixels of a lane
    /// @param edges  Coarse: the scale changes from frame to frame, and buckets of nearly the same scale can be used
    /// @param palette  of the trace, for the colours of the buckets; not null
    void begin(std::shared_ptr<const profiler::Trace> trace, const TimeAxis& axis, double devicePixelRatio, int width,
               profiler::LodEdges edges, std::shared_ptr<const profiler::SlicePalette> palette);
    /// No lane of this frame was deferred.
    [[nodiscard]] bool isSettled() const { return m_settled; }

    /// The level-of-detail buckets of a lane, one per device pixel. Valid until begin().
    const std::vector<profiler::ColoredBucket>& buckets(profiler::TrackId track, int depth);

private:
    struct Lane {
        TimeAxis axis; ///< origin at the last complete read
        profiler::LodEdges edges{};
        std::int64_t panned = 0; ///< shift since then in device pixels
        std::vector<profiler::ColoredBucket> buckets;
        std::vector<profiler::ColoredBucket> stretched; ///< ratio to this frame's scale
    };
    void readAll(profiler::TrackId track, int depth, Lane& lane);
    void read(profiler::TrackId track, int depth, std::vector<profiler::ColoredBucket>& buckets, int from, int to,
              profiler::LodEdges edges) const;
    [[nodiscard]] bool pan(profiler::TrackId track, int depth, Lane& lane) const;
    [[nodiscard]] bool stretch(profiler::TrackId track, int depth, Lane& lane, double most) const;

    std::shared_ptr<const profiler::Trace> m_trace;
    std::shared_ptr<const profiler::SlicePalette> m_palette;
    TimeAxis m_axis; ///< of this frame
    double m_ratio = 1;
    int m_width = 0;
    profiler::LodEdges m_edges{};
    std::chrono::nanoseconds m_time = std::chrono::nanoseconds::max();
    std::chrono::nanoseconds m_spent{0}; ///< remaining time of this frame
    bool m_settled = true;
    std::map<std::pair<profiler::TrackId, int>, Lane> m_lanes;
};

} // namespace app
