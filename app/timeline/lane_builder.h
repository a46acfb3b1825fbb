#pragma once

#include "app/charts/time_axis.h"
#include "app/look/timeline_theme.h"
#include "app/timeline/lod_cache.h"
#include "app/timeline/slice_colors.h"
#include "app/timeline/timeline_find.h"
#include "profiler/model/colored_buckets.h"

#include <QImage>
#include <QRgb>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace app {

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
/// Marks search matches in rows [top, bottom) of `image`.
void drawHits(QImage& image, int top, int bottom, const LaneStrip& lane, QRgb color);

} // namespace app
