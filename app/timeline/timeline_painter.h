#pragma once

#include "app/document/trace_summary.h"
#include "app/timeline/lane_builder.h"
#include "app/timeline/timeline_scene.h"

#include <QImage>
#include <QPainter>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace app {

/// Finds the long gaps among very many gaps of a device without reading each: stores the longest gap of every block.
class LongGaps {
public:
    /// @param all  sorted by start; outlives this
    explicit LongGaps(std::span<const DeviceGaps::Gap> all);

    /// Calls back with the gaps in `window` (a part of all gaps) of at least this duration, sorted by start.
    template <class Visit>
    void forEach(std::span<const DeviceGaps::Gap> window, profiler::Nanoseconds atLeast, const Visit& visit) const
    {
        const auto first = static_cast<std::size_t>(window.data() - m_all.data()), end = first + window.size();
        for (std::size_t i = first; i < end;) {
            if (m_longest[i / kBlock] < atLeast) {
                i = (i / kBlock + 1) * kBlock;
                continue;
            }
            if (m_all[i].range.duration() >= atLeast)
                visit(m_all[i]);
            ++i;
        }
    }

private:
    static constexpr std::size_t kBlock = 128;
    std::span<const DeviceGaps::Gap> m_all;
    std::vector<profiler::Nanoseconds> m_longest; ///< longest of each kBlock gaps
};

/// Draws a scene in stages: lanes and counters into an image, then labels, the overlay, the ruler and the headers with
/// a painter. Keeps buffers from frame to frame.
class TimelinePainter {
public:
    /// Time limit as in LodCache; unlimited by default.
    void setReadingTime(std::chrono::nanoseconds time) { m_memory.setReadingTime(time); }
    /// False: the next frame of the same scene refines the deferred parts.
    [[nodiscard]] bool isSettled() const { return m_memory.isSettled(); }
    /// The next frame reads everything again; see LodCache::clear().
    void reread()
    {
        m_key = {};
        m_memory.clear();
    }
    /// Paints one frame.
    /// @param painter  of the canvas, in logical pixels
    void paint(QPainter& painter, TimelineScene& scene);
    /// The same with rectangles and texts only, at one device pixel per logical pixel.
    void paintVector(QPainter& painter, TimelineScene& scene);

private:
    struct Box { ///< a wide slice and its lane; logical pixels of the canvas
        QRectF rect;
        LaneStrip::Box what;
        bool pinned = false;
    };
    void drawLanes(QPainter& painter, const TimelineScene& scene) const;
    void paintLanes(TimelineScene& scene, const std::vector<AxisTick>& ticks);
    void paintAbove(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks);
    void putLane(int top, int bottom, const LaneStrip& strip, const LaneStrip& under);
    void putHits(int top, int bottom, const LaneStrip& strip, const QColor& color);
    void putCounter(TimelineScene& scene, const TrackRow& row, int top, int bottom);
    void paintRow(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row);
    void paintTrack(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row);
    void paintOverview(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row);
    void paintGaps(TimelineScene& scene, LaneBuilder& builder, const TrackRow& row, LaneStrip& lane);
    [[nodiscard]] QString labelOf(const std::shared_ptr<const profiler::Trace>& trace, const profiler::Slice& slice);
    void paintLabels(QPainter& painter, TimelineScene& scene, bool pinned);

    /// The state that the lanes' image depends on: while it is unchanged, hovering redraws only the overlays.
    struct Key {
        std::shared_ptr<const profiler::Trace> trace;
        TimeAxis axis;
        TimelineTheme theme;
        QSize size;
        double ratio = 0;
        int headerWidth = 0, scrollY = 0, rows = 0;
        ColorBy colors{};
        std::shared_ptr<const FindHits> hits;
        std::shared_ptr<const DeviceGaps> gaps;
        bool allFlows = false, zooming = false;
        friend bool operator==(const Key&, const Key&) = default;
    };

    Key m_key;
    QImage m_lanes;
    double m_ratio = 1; ///< device pixels of m_lanes per logical pixel
    int m_filled = 0;   ///< used pixel rows of m_lanes; below them is only background
    LodCache m_memory;
    QPainter* m_vector = nullptr; ///< target of lanes instead of the image, with the same origin
    std::vector<Box> m_boxes;
    struct GapLabel {
        QRectF rect;
        std::string_view cause;
        bool pinned = false;
    };
    std::vector<GapLabel> m_gapLabels;
    std::shared_ptr<const DeviceGaps> m_longGapsOf;
    std::map<profiler::DeviceId, LongGaps> m_longGaps; ///< gaps of devices with more visible gaps than can be drawn
    std::shared_ptr<const profiler::Trace> m_shortNamesOf;
    std::unordered_map<std::uint32_t, QString> m_shortNames; ///< by name id
    FlowsInView m_flows;
    FlowMemory m_flowMemory;
};

} // namespace app
