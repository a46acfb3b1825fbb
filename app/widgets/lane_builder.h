#pragma once

#include "app/widgets/lod_cache.h"
#include "app/widgets/slice_colors.h"
#include "app/widgets/time_axis.h"
#include "app/widgets/timeline_find.h"
#include "app/widgets/timeline_theme.h"
#include "profiler/model/colored_buckets.h"

#include <QImage>
#include <QRgb>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace app {

/// One lane as a row of pixels, and what has to be drawn over it. x in device pixels.
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
    std::vector<Span> hits; ///< what the search found, in order, touching ones joined
    std::vector<Box> boxes; ///< slices wide enough for a label or an outline
};

/// Turns slices into lanes. A slice as wide as a pixel or wider is drawn in its own colour; thinner ones share a pixel,
/// which shows their mix, and that of the ground for the time between them, by shares of time. The cost of a lane is
/// that of its pixels, however many slices lie under them: a track with few slices in view is drawn slice by slice, any
/// other from the level-of-detail index, with single slices looked up where a run of pixels shows one.
class LaneBuilder {
public:
    LaneBuilder(const profiler::Trace& trace, const SliceColors& colors, const TimelineTheme& theme,
                const TimeAxis& axis, double devicePixelRatio);

    /// What the frame before had read is used, and what is read now kept. @param memory  outlives the builder; begun
    /// for its trace and axis
    void setMemory(LodCache* memory) { m_memory = memory; }
    /// What a search found is marked from here on. @param hits  outlives the builder; null: none
    void setHits(const FindHits* hits) { m_hits = hits; }

    /// What the lanes are drawn over. @param gridColumns  device pixels of the axis' lines
    void setBackground(const QColor& color, const QColor& gridColor, const std::vector<int>& gridColumns);
    /// Of a lane, in device pixels.
    [[nodiscard]] int width() const { return m_width; }
    /// A lane without slices.
    [[nodiscard]] const LaneStrip& blank() const { return m_blank; }
    /// So many lanes of a track from nesting depth `firstDepth` on. Valid until the next call.
    std::vector<LaneStrip>& build(profiler::TrackId track, int firstDepth, int lanes);

    /// Hatches a stretch in which nothing happens; thinner than three device pixels it shows nothing.
    /// @return the stretch in device pixels, clipped to the lane
    LaneStrip::Span addIdle(LaneStrip& lane, profiler::TimeRange range) const;

private:
    void buildExact(profiler::TrackId track, int firstDepth);
    void buildDense(profiler::TrackId track, int depth, LaneStrip& lane);
    const std::vector<profiler::ColoredBucket>& bucketsOf(profiler::TrackId track, int depth);
    void addSlice(LaneStrip& lane, const profiler::Slice& slice);
    void addThin(int lane, const profiler::Slice& slice);
    void mixThin();
    void addDense(LaneStrip& lane, int left, const profiler::ColoredBucket& bucket);
    /// A style as pixels are written.
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
    std::uint64_t m_background = 0; ///< its parts apart
    LaneStrip m_blank;
    std::vector<LaneStrip> m_lanes;
    /// What a slice thinner than a pixel has of one.
    struct Thin {
        int lane = 0, pixel = 0;
        double share = 0; ///< of the pixel
        const ClassStyle* style = nullptr;
    };
    std::vector<Thin> m_thin;                            ///< of the lanes that are built
    std::vector<std::pair<int, profiler::Slice>> m_wide; ///< the other slices, and their lanes
    std::array<Ink, 64> m_inks;                          ///< of a few names: a dense lane asks for each pixel's
    std::vector<profiler::ColoredBucket> m_buckets;      ///< of one lane, without a memory
};

/// Writes a lane into rows [top, bottom) of `image`, at column `left`; hatches follow x and y.
/// @param ratio  device pixels a logical one: hatches are as coarse as the legend's
void drawLane(QImage& image, int left, int top, int bottom, const LaneStrip& lane, double ratio = 1);
/// Marks what a search found in rows [top, bottom) of `image`.
void drawHits(QImage& image, int top, int bottom, const LaneStrip& lane, QRgb color);

} // namespace app
