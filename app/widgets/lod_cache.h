#pragma once

#include "app/widgets/time_axis.h"
#include "profiler/model/colored_buckets.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace app {

/// What was read for the lanes of the last frames, so that a pan by whole pixels reads only what came into view, and a
/// zoom that goes on reads every few frames. A frame reads for a limited time only: lanes that are left over are shown
/// from what is known of another scale, or from coarser sums, and read in the next frames.
class LodCache {
public:
    /// @param time  that a frame may read lanes anew; the first of them is read in any case
    void setReadingTime(std::chrono::nanoseconds time) { m_time = time; }
    /// A frame begins; what it cannot use of those before is forgotten.
    /// @param width  device pixels of a lane
    /// @param edges  Coarse: the scale changes from frame to frame, and buckets of nearly the same will do
    /// @param palette  of the trace, for the buckets' colours; not null
    void begin(std::shared_ptr<const profiler::Trace> trace, const TimeAxis& axis, double devicePixelRatio, int width,
               profiler::LodEdges edges, std::shared_ptr<const profiler::SlicePalette> palette);
    /// No lane of this frame was left for later.
    [[nodiscard]] bool isSettled() const { return m_settled; }

    /// The level-of-detail buckets of a lane, one a device pixel. Valid until begin().
    const std::vector<profiler::ColoredBucket>& buckets(profiler::TrackId track, int depth);

private:
    struct Lane {
        TimeAxis axis; ///< when all of it was read
        profiler::LodEdges edges{};
        std::int64_t panned = 0; ///< device pixels since then
        std::vector<profiler::ColoredBucket> buckets;
        std::vector<profiler::ColoredBucket> stretched; ///< to this frame's scale
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
    std::chrono::nanoseconds m_spent{0}; ///< of this frame's time
    bool m_settled = true;
    std::map<std::pair<profiler::TrackId, int>, Lane> m_lanes;
};

} // namespace app
