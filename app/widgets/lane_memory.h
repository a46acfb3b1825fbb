#pragma once

#include "app/widgets/time_axis.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace app {

/// What was read for the lanes of the last frame, so that a pan by whole pixels reads only what came into view.
class LaneMemory {
public:
    /// A frame begins; what it cannot use of the last one is forgotten.
    /// @param width  device pixels of a lane
    void begin(std::shared_ptr<const profiler::Trace> trace, const TimeAxis& axis, double devicePixelRatio, int width);

    /// The level-of-detail buckets of a lane, one a device pixel. Valid until begin().
    const std::vector<profiler::LodBucket>& buckets(profiler::TrackId track, int depth);

    /// Too many slices of this track were in view a short while ago: it need not be tried again.
    [[nodiscard]] bool isCrowded(profiler::TrackId track) const;
    void setCrowded(profiler::TrackId track) { m_crowded[track] = m_origin; }

private:
    struct Lane {
        std::int64_t origin = 0; ///< m_origin when it was read
        std::vector<profiler::LodBucket> buckets;
    };
    void read(profiler::TrackId track, int depth, std::vector<profiler::LodBucket>& buckets, int from, int to) const;
    void forget(bool zoomedIn);

    std::shared_ptr<const profiler::Trace> m_trace;
    TimeAxis m_axis; ///< of this frame
    double m_ratio = 1;
    int m_width = 0;
    profiler::TraceTime m_anchor{}; ///< a place in time, …
    double m_anchorX = 0;           ///< … and its device pixel when all was forgotten last
    std::int64_t m_origin = 0;      ///< device pixels panned since then
    std::map<std::pair<profiler::TrackId, int>, Lane> m_lanes;
    std::map<profiler::TrackId, std::int64_t> m_crowded; ///< m_origin when that was found
};

} // namespace app
