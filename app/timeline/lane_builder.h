#pragma once

#include "app/charts/time_axis.h"
#include "app/look/theme.h"
#include "app/timeline/slice_colors.h"
#include "app/timeline/slice_search.h"
#include "profiler/model/level_of_detail.h"

#include <QImage>
#include <QRgb>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

class QPainter;

// Turns the slices of a trace into lanes of pixels, and draws them. Dense lanes come from the level-of-detail index, of
// which a cache keeps the part that the last frames have read.
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
    /// Forgets what was read: parts of the trace that could not be read then can be read now.
    void clear() { m_lanes.clear(); }
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

/// One lane (nesting depth of a track) as a row of pixels, plus the elements to draw over it. x in device pixels.
struct LaneStrip {
    struct Box {
        int left = 0, right = 0; ///< of the slice, clipped to the lane; half-open
        profiler::Slice slice;
        const ClassStyle* style = nullptr;
    };
    struct Hatched {
        int left = 0, right = 0;
        QRgb color = 0;
        bool sparse = false;
    };
    struct Span {
        int left = 0, right = 0;
    };
    std::vector<QRgb> pixels;
    std::vector<Hatched> hatches;
    std::vector<Span> hits; ///< search matches in order, with adjacent ones joined
    std::vector<Box> boxes; ///< slices wide enough for a label or an outline
};

/// Turns slices into lanes. A slice at least one pixel wide is drawn in its own colour. Thinner slices share a pixel,
/// which shows the mix of their colours and the background by share of time. The cost of a lane depends on its pixels,
/// not on its slices: a track with few visible slices is drawn slice by slice, and any other from the level-of-detail
/// index, with individual lookups where a run of pixels shows one slice.
class LaneBuilder {
public:
    LaneBuilder(const profiler::Trace& trace, const SliceColors& colors, const TimelineTheme& theme,
                const TimeAxis& axis, double devicePixelRatio);

    /// Uses the buckets read for the previous frame, and keeps those read now.
    /// @param memory  outlives the builder; prepared for its trace and axis
    void setMemory(LodCache* memory) { m_memory = memory; }
    /// Marks search matches from now on.
    /// @param hits  outlives the builder; null: none
    void setHits(const FindHits* hits) { m_hits = hits; }

    /// Background of the lanes.
    /// @param gridColumns  device pixels of the grid lines
    void setBackground(const QColor& color, const QColor& gridColor, const std::vector<int>& gridColumns);
    /// Width of a lane in device pixels.
    [[nodiscard]] int width() const { return m_width; }
    /// A lane without slices.
    [[nodiscard]] const LaneStrip& blank() const { return m_blank; }
    /// The given number of lanes of a track from nesting depth `firstDepth` on. Valid until the next call.
    std::vector<LaneStrip>& build(profiler::TrackId track, int firstDepth, int lanes);

    /// Hatches an idle interval; nothing is drawn below a width of three device pixels.
    /// @return the interval in device pixels, clipped to the lane
    LaneStrip::Span addIdle(LaneStrip& lane, profiler::TimeRange range) const;

private:
    void buildExact(profiler::TrackId track, int firstDepth);
    void buildDense(profiler::TrackId track, int depth, LaneStrip& lane);
    const std::vector<profiler::ColoredBucket>& bucketsOf(profiler::TrackId track, int depth);
    void addSlice(LaneStrip& lane, const profiler::Slice& slice);
    void addThin(int lane, const profiler::Slice& slice);
    void mixThin();
    void addDense(LaneStrip& lane, int left, const profiler::ColoredBucket& bucket);
    /// A style in pixel format.
    struct Ink {
        profiler::StringId name;
        profiler::ActivityKind kind{};
        const ClassStyle* style = nullptr; ///< null: not looked up yet
        QRgb fill = 0, second = 0;
    };
    const Ink& inkOf(profiler::ActivityKind kind, profiler::StringId name);
    static void addHit(LaneStrip& lane, int left, int right);
    [[nodiscard]] int pixelOf(profiler::TraceTime time) const;
    [[nodiscard]] profiler::TraceTime timeOf(double pixel) const;

    const profiler::Trace& m_trace;
    const SliceColors& m_colors;
    const FindHits* m_hits = nullptr;
    LodCache* m_memory = nullptr;
    const TimelineTheme& m_theme;
    const TimeAxis& m_axis;
    double m_ratio;
    int m_width;
    std::uint64_t m_background = 0; ///< its components spread out
    LaneStrip m_blank;
    std::vector<LaneStrip> m_lanes;
    /// The contribution of a thin slice to one pixel.
    struct Thin {
        int lane = 0, pixel = 0;
        double share = 0; ///< share of the pixel
        const ClassStyle* style = nullptr;
    };
    std::vector<Thin> m_thin;                            ///< of the lanes being built
    std::vector<std::pair<int, profiler::Slice>> m_wide; ///< the other slices and their lanes
    std::array<Ink, 64> m_inks;                          ///< cache of a few names, because a dense lane looks up one
                                                         ///< per pixel
    std::vector<profiler::ColoredBucket> m_buckets;      ///< of one lane, without a cache
};

/// Writes a lane into rows [top, bottom) of `image`, starting at column `left`; hatches are aligned to x and y.
/// @param ratio  device pixels per logical pixel: hatches are as coarse as in the legend
void drawLane(QImage& image, int left, int top, int bottom, const LaneStrip& lane, double ratio = 1);
/// The same for vector output, as rectangles: runs of pixels equal to those of `under`, which is already drawn, are
/// left out.
void drawLane(QPainter& painter, int top, int bottom, const LaneStrip& lane, const LaneStrip& under);
/// Marks search matches in rows [top, bottom) of `image`.
void drawHits(QImage& image, int top, int bottom, const LaneStrip& lane, QRgb color);

} // namespace app
