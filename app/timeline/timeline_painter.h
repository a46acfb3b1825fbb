#pragma once

#include "app/timeline/lane_builder.h"
#include "app/timeline/long_gaps.h"
#include "app/timeline/timeline_scene.h"

#include <QImage>
#include <QPainter>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace app {

/// Draws a scene in stages: lanes into an image, then overlays with a painter. Keeps buffers from frame to frame.
class TimelinePainter {
public:
    /// Time limit as in LodCache; unlimited by default.
    void setReadingTime(std::chrono::nanoseconds time) { m_memory.setReadingTime(time); }
    /// False: the next frame of the same scene refines the deferred parts.
    [[nodiscard]] bool isSettled() const { return m_memory.isSettled(); }
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

void paintRuler(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks);
void paintHeader(QPainter& painter, TimelineScene& scene);
/// A counter as a step line over a tinted area, in rows [top, bottom) of `image`, scaled from its minimum to its
/// maximum.
void drawCounter(QPainter& painter, const CounterSeries& series, const TimeAxis& axis, int top, int bottom,
                 const QColor& color);
void drawCounter(QImage& image, const CounterSeries& series, const TimeAxis& axis, double ratio, int top, int bottom,
                 const QColor& color);
/// Selection, flows, range, marks and the pointer line.
void paintOverlay(QPainter& painter, TimelineScene& scene, const FlowsInView& inView);
/// Arrows of the selected slice, and fainter all visible ones.
void paintFlows(QPainter& painter, TimelineScene& scene, const FlowsInView& inView);
/// Vertical lines of marks, the distance between two of them, and from the last one to the pointer.
void paintMarks(QPainter& painter, TimelineScene& scene);
/// Marks on the ruler, bookmarks with their notes.
void paintMarkFlags(QPainter& painter, TimelineScene& scene);
/// Tooltip card of the item under the pointer.
void paintHoverCard(QPainter& painter, TimelineScene& scene);

} // namespace app
