#include "app/timeline/lane_builder.h"

#include <QPainter>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <span>

namespace app {

using profiler::ActivityKind;
using profiler::ColoredBucket;
using profiler::Slice;
using profiler::StringId;
using profiler::TimeRange;
using profiler::TraceTime;
using profiler::TrackId;

namespace {

constexpr double kWhole = 0.02;         ///< offset in pixels from a whole pixel that is not visible
constexpr std::size_t kMostLanes = 500; ///< cached lanes of a scrolled trace: about 30 MB
/// Scales within this factor share buckets while zooming: two notches of a wheel.
constexpr double kMostStretch = 1.45;
/// The same if the frame has no time left to read
constexpr double kFarthest = 4;

constexpr std::size_t kFewSlices = 1500; ///< visible slices of a track up to which drawing slice by slice is cheaper
                                         ///< than by pixel
constexpr int kSeparated = 3;            ///< minimum width in device pixels of a slice with a visible left edge
constexpr int kBoxed = 8;                ///< minimum width of a slice with a label
constexpr int kSingleRun = 5;            ///< run of pixels with one slice each from which on slices are looked up
                                         ///< individually
constexpr double kIdleShare = 0.35;      ///< share of its colour below the hatch of an idle interval

/// A colour whose components are spread out so that one multiplication scales all of them: red and blue in the low
/// half, green in the high half.
constexpr std::uint64_t kParts = 0x000000ff00ff00ff;

constexpr std::uint64_t apart(QRgb color)
{
    return (color | std::uint64_t{color} << 24) & kParts;
}

QRgb blend(std::uint64_t under, std::uint64_t over, double share)
{
    const auto weight = static_cast<std::uint64_t>(share * 256);
    const std::uint64_t mixed = (under * (256 - weight) + over * weight) >> 8 & kParts;
    return 0xff000000 | static_cast<QRgb>(mixed) | static_cast<QRgb>(mixed >> 24);
}

} // namespace

void LodCache::begin(std::shared_ptr<const profiler::Trace> trace, const TimeAxis& axis, double devicePixelRatio,
                     int width, profiler::LodEdges edges, std::shared_ptr<const profiler::SlicePalette> palette)
{
    const bool same = trace == m_trace && palette == m_palette && devicePixelRatio == m_ratio && width == m_width;
    if (!same || m_lanes.size() >= kMostLanes)
        m_lanes.clear();
    m_trace = std::move(trace);
    m_palette = std::move(palette);
    m_axis = axis;
    m_ratio = devicePixelRatio;
    m_width = width;
    m_edges = edges;
    m_spent = {};
    m_settled = true;
}

const std::vector<ColoredBucket>& LodCache::buckets(TrackId track, int depth)
{
    const auto [entry, isNew] = m_lanes.try_emplace({track, depth});
    Lane& lane = entry->second;
    if (!isNew && pan(track, depth, lane))
        return lane.buckets;
    const bool late = m_spent > m_time, fine = m_edges == profiler::LodEdges::Fine;
    m_settled = m_settled && !(late && fine);
    if (!isNew && (late || !fine) && stretch(track, depth, lane, late ? kFarthest : kMostStretch))
        return lane.stretched;
    lane.edges = late ? profiler::LodEdges::Coarse : m_edges;
    readAll(track, depth, lane);
    return lane.buckets;
}

void LodCache::readAll(TrackId track, int depth, Lane& lane)
{
    const auto begin = std::chrono::steady_clock::now();
    lane.axis = m_axis;
    lane.panned = 0;
    lane.buckets.resize(static_cast<std::size_t>(m_width));
    read(track, depth, lane.buckets, 0, m_width, lane.edges);
    m_spent += std::chrono::steady_clock::now() - begin;
}

/// Shifts the known buckets by whole pixels and reads the rest.
/// @return false if nothing can be reused
bool LodCache::pan(TrackId track, int depth, Lane& lane) const
{
    if (lane.axis.nsPerPixel() != m_axis.nsPerPixel() || lane.edges != m_edges)
        return false;
    // Measured from the last complete read, so that the rounding errors of many pans do not add up.
    const TraceTime anchor = lane.axis.visible().begin;
    const double panned = (lane.axis.xOf(anchor) - m_axis.xOf(anchor)) * m_ratio;
    const double by = std::round(panned) - static_cast<double>(lane.panned);
    if (std::abs(panned - std::round(panned)) >= kWhole || std::abs(by) >= m_width)
        return false;
    lane.panned = std::llround(panned);
    const int moved = static_cast<int>(by);
    if (moved > 0) {
        std::move(lane.buckets.begin() + moved, lane.buckets.end(), lane.buckets.begin());
        read(track, depth, lane.buckets, m_width - moved, m_width, m_edges);
    } else if (moved < 0) {
        std::move_backward(lane.buckets.begin(), lane.buckets.end() + moved, lane.buckets.end());
        read(track, depth, lane.buckets, 0, -moved, m_edges);
    }
    return true;
}

/// Resamples the known buckets to another scale and reads the missing ones.
/// @return false if the scales differ too much
bool LodCache::stretch(TrackId track, int depth, Lane& lane, double most) const
{
    const double step = m_axis.nsPerPixel() / lane.axis.nsPerPixel(); // known buckets per pixel
    if (step > most || step < 1 / most)
        return false;
    const TraceTime anchor = lane.axis.visible().begin;
    const double first = (lane.axis.xOf(anchor) - m_axis.xOf(anchor) * step) * m_ratio -
                         static_cast<double>(lane.panned) + step / 2; // bucket of pixel 0, like all bucket numbers
    const auto pixelOf = [&](double bucket) {
        return static_cast<int>(std::clamp(std::ceil((bucket - first) / step), 0.0, static_cast<double>(m_width)));
    };
    const int from = pixelOf(0), to = pixelOf(m_width);
    lane.stretched.resize(static_cast<std::size_t>(m_width));
    read(track, depth, lane.stretched, 0, from, profiler::LodEdges::Coarse);
    for (int x = from; x < to; ++x) {
        const int bucket = std::clamp(static_cast<int>(first + step * x), 0, m_width - 1);
        lane.stretched[static_cast<std::size_t>(x)] = lane.buckets[static_cast<std::size_t>(bucket)];
    }
    read(track, depth, lane.stretched, to, m_width, profiler::LodEdges::Coarse);
    return true;
}

void LodCache::read(TrackId track, int depth, std::vector<ColoredBucket>& buckets, int from, int to,
                    profiler::LodEdges edges) const
{
    if (from >= to)
        return;
    summarize(*m_trace, track, depth, {m_axis.timeAt(from / m_ratio), m_axis.timeAt(to / m_ratio)},
              std::span(buckets).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)), edges,
              *m_palette);
}

LaneBuilder::LaneBuilder(const profiler::Trace& trace, const SliceColors& colors, const TimelineTheme& theme,
                         const TimeAxis& axis, double devicePixelRatio)
    : m_trace(trace), m_colors(colors), m_theme(theme), m_axis(axis), m_ratio(devicePixelRatio),
      m_width(std::max(1, static_cast<int>(std::lround(axis.width() * devicePixelRatio))))
{
}

void LaneBuilder::setBackground(const QColor& color, const QColor& gridColor, const std::vector<int>& gridColumns)
{
    m_background = apart(color.rgb());
    m_blank.pixels.assign(static_cast<std::size_t>(m_width), color.rgb());
    for (const int x : gridColumns)
        if (x >= 0 && x < m_width)
            m_blank.pixels[static_cast<std::size_t>(x)] = gridColor.rgb();
}

std::vector<LaneStrip>& LaneBuilder::build(TrackId track, int firstDepth, int lanes)
{
    m_lanes.resize(static_cast<std::size_t>(std::max(lanes, 0)));
    for (LaneStrip& lane : m_lanes) {
        lane.pixels = m_blank.pixels;
        lane.hatches.clear();
        lane.hits.clear();
        lane.boxes.clear();
    }
    if (m_trace.beginIn(track, m_axis.visible(), kFewSlices) < kFewSlices)
        buildExact(track, firstDepth);
    else
        for (int lane = 0; lane < lanes; ++lane)
            buildDense(track, firstDepth + lane, m_lanes[static_cast<std::size_t>(lane)]);
    return m_lanes;
}

void LaneBuilder::buildExact(TrackId track, int firstDepth)
{
    const int lanes = static_cast<int>(m_lanes.size());
    const double pixel = m_axis.nsPerPixel() / m_ratio;
    m_thin.clear();
    m_wide.clear();
    m_trace.forEach(track, m_axis.visible(), [&](const Slice& slice) {
        const int lane = slice.depth - firstDepth;
        if (lane < 0 || lane >= lanes)
            return true;
        if (static_cast<double>(slice.duration.count()) < pixel)
            addThin(lane, slice);
        else
            m_wide.emplace_back(lane, slice);
        return true;
    });
    // A slice at least one pixel wide owns the pixels that it is rounded to.
    mixThin();
    for (const auto& [lane, slice] : m_wide)
        addSlice(m_lanes[static_cast<std::size_t>(lane)], slice);
}

/// A slice thinner than a pixel contributes its share to at most two pixels.
void LaneBuilder::addThin(int lane, const Slice& slice)
{
    const double from = m_axis.xOf(slice.begin) * m_ratio, to = m_axis.xOf(slice.end()) * m_ratio;
    const auto first = static_cast<int>(std::clamp(std::floor(from), -1e6, 1e6));
    const ClassStyle& style = m_colors(slice.kind, slice.name, m_theme.dark);
    LaneStrip& strip = m_lanes[static_cast<std::size_t>(lane)];
    for (int pixel = std::max(first, 0); pixel < m_width && (pixel == first || pixel < to); ++pixel) {
        m_thin.push_back(
            {lane, pixel, std::max(std::min(to, pixel + 1.0) - std::max<double>(from, pixel), 0.0), &style});
        if (m_hits && m_hits->matches(slice.name))
            addHit(strip, pixel, pixel + 1);
    }
}

void LaneBuilder::mixThin()
{
    std::stable_sort(m_thin.begin(), m_thin.end(), [](const Thin& a, const Thin& b) {
        return std::pair(a.lane, a.pixel) < std::pair(b.lane, b.pixel);
    });
    for (auto first = m_thin.begin(); first != m_thin.end();) {
        profiler::ColorSum sum;
        double share = 0;
        auto last = first;
        for (; last != m_thin.end() && last->lane == first->lane && last->pixel == first->pixel; ++last) {
            const QColor& fill = last->style->fill;
            const double weight = std::max(last->share, 1e-9); // a slice without duration has a colour, too
            sum.add({static_cast<float>(fill.red()), static_cast<float>(fill.green()), static_cast<float>(fill.blue())},
                    weight);
            share += weight;
        }
        LaneStrip& lane = m_lanes[static_cast<std::size_t>(first->lane)];
        lane.pixels[static_cast<std::size_t>(first->pixel)] =
            blend(m_background, apart(mixedPixel(sum.over(share))), shownShare(share));
        first = last;
    }
}

const std::vector<ColoredBucket>& LaneBuilder::bucketsOf(TrackId track, int depth)
{
    if (m_memory)
        return m_memory->buckets(track, depth);
    m_buckets.resize(static_cast<std::size_t>(m_width));
    summarize(m_trace, track, depth, {timeOf(0), timeOf(m_width)}, m_buckets, profiler::LodEdges::Fine,
              *m_colors.palette(m_theme.dark));
    return m_buckets;
}

void LaneBuilder::buildDense(TrackId track, int depth, LaneStrip& lane)
{
    const auto& buckets = bucketsOf(track, depth);
    const auto bucket = [&buckets](int x) -> const ColoredBucket& { return buckets[static_cast<std::size_t>(x)]; };
    const auto same = [&](int a, int b) {
        return bucket(b).count == 1 && bucket(a).name == bucket(b).name && bucket(a).kind == bucket(b).kind;
    };
    for (int x = 0; x < m_width;) {
        if (bucket(x).count == 0) {
            ++x;
            continue;
        }
        int end = x + 1;
        while (bucket(x).count == 1 && end < m_width && same(x, end))
            ++end;
        const auto slice = end - x >= kSingleRun ? m_trace.at(track, depth, timeOf(x + 1.5)) : std::nullopt;
        if (slice) {
            addSlice(lane, *slice);
            x = std::max(x + 1, std::min(end, pixelOf(slice->end())));
        } else {
            addDense(lane, x, bucket(x));
            ++x;
        }
    }
}

void LaneBuilder::addSlice(LaneStrip& lane, const Slice& slice)
{
    const int begin = pixelOf(slice.begin);
    const int left = std::max(0, begin);
    const int right = std::min(m_width, std::max(pixelOf(slice.end()), begin + 1));
    if (left >= right)
        return;
    const ClassStyle& style = m_colors(slice.kind, slice.name, m_theme.dark);
    std::fill(lane.pixels.begin() + left, lane.pixels.begin() + right, style.fill.rgb());
    if (style.pattern != FillPattern::Solid)
        lane.hatches.push_back({left, right, style.second.rgb(), style.pattern == FillPattern::SparseHatch});
    if (right - left >= kSeparated && begin >= 0)
        lane.pixels[static_cast<std::size_t>(begin)] = style.edge.rgb();
    if (right - left >= kBoxed)
        lane.boxes.push_back({left, right, slice, &style});
    if (m_hits && m_hits->matches(slice.name))
        addHit(lane, left, right);
}

LaneStrip::Span LaneBuilder::addIdle(LaneStrip& lane, TimeRange range) const
{
    const int left = std::max(0, pixelOf(range.begin) + 1), right = std::min(m_width, pixelOf(range.end));
    if (right - left < kSeparated)
        return {};
    const ClassStyle& style = classStyle(SliceClass::Idle, m_theme.dark);
    for (int x = left; x < right; ++x)
        lane.pixels[static_cast<std::size_t>(x)] =
            blend(apart(m_blank.pixels[static_cast<std::size_t>(x)]), apart(style.fill.rgb()), kIdleShare);
    lane.hatches.push_back({left, right, style.second.rgb(), true});
    return {left, right};
}

void LaneBuilder::addDense(LaneStrip& lane, int left, const ColoredBucket& bucket)
{
    if (m_hits && m_hits->matches(bucket.name))
        addHit(lane, left, left + 1);
    if (!bucket.isOne) {
        lane.pixels[static_cast<std::size_t>(left)] =
            blend(m_background, apart(mixedPixel(bucket.color)), shownShare(static_cast<double>(bucket.busy)));
        return;
    }
    const Ink& ink = inkOf(bucket.kind, bucket.name);
    lane.pixels[static_cast<std::size_t>(left)] = ink.fill;
    if (ink.style->pattern == FillPattern::Solid)
        return;
    const bool sparse = ink.style->pattern == FillPattern::SparseHatch;
    if (!lane.hatches.empty() && lane.hatches.back().right == left && lane.hatches.back().color == ink.second)
        lane.hatches.back().right = left + 1;
    else
        lane.hatches.push_back({left, left + 1, ink.second, sparse});
}

const LaneBuilder::Ink& LaneBuilder::inkOf(ActivityKind kind, StringId name)
{
    Ink& ink = m_inks[(name.value + static_cast<std::size_t>(kind)) % m_inks.size()];
    if (!ink.style || ink.name != name || ink.kind != kind) {
        const ClassStyle& style = m_colors(kind, name, m_theme.dark);
        ink = {name, kind, &style, style.fill.rgb(), style.second.rgb()};
    }
    return ink;
}

void LaneBuilder::addHit(LaneStrip& lane, int left, int right)
{
    if (!lane.hits.empty() && left <= lane.hits.back().right && left >= lane.hits.back().left)
        lane.hits.back().right = std::max(lane.hits.back().right, right);
    else
        lane.hits.push_back({left, right});
}

int LaneBuilder::pixelOf(TraceTime time) const
{
    const double x = std::floor(m_axis.xOf(time) * m_ratio + 0.5);
    return static_cast<int>(std::clamp(x, -1e6, 1e6));
}

TraceTime LaneBuilder::timeOf(double pixel) const
{
    return m_axis.timeAt(pixel / m_ratio);
}

void drawHits(QImage& image, int top, int bottom, const LaneStrip& lane, QRgb color)
{
    bottom = std::min(bottom, image.height());
    for (int y = std::max(top, 0); y < bottom; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (const LaneStrip::Span& hit : lane.hits)
            std::fill(line + hit.left, line + std::min(hit.right, image.width()), color);
    }
}

void drawLane(QImage& image, int left, int top, int bottom, const LaneStrip& lane, double ratio)
{
    const int scale = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1L, std::lround(ratio)))));
    const int period = 8 * scale; // period of hatches in both directions; a power of two
    top = std::max(top, 0);
    bottom = std::min(bottom, image.height());
    const int width = std::min(static_cast<int>(lane.pixels.size()), image.width() - left);
    if (top >= bottom || width <= 0)
        return;
    const auto stride = image.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
    QRgb* const first = reinterpret_cast<QRgb*>(image.scanLine(top)) + left;
    const int rows = bottom - top, own = lane.hatches.empty() ? rows : std::min(rows, period);
    const auto bytes = static_cast<std::size_t>(width) * sizeof(QRgb);
    for (int row = 0; row < own; ++row)
        std::memcpy(first + row * stride, lane.pixels.data(), bytes);
    for (const LaneStrip::Hatched& hatch : lane.hatches) {
        const int thickness = (hatch.sparse ? 2 : 3) * scale;
        // The left edge of the slice stays visible.
        for (int x = hatch.left + (hatch.right - hatch.left > 2); x < std::min(hatch.right, width); ++x)
            for (int stripe = 0; stripe < thickness; ++stripe)
                if (const int row = (stripe - x - top) & (period - 1); row < own)
                    first[row * stride + x] = hatch.color;
    }
    for (int row = own; row < rows; ++row)
        std::memcpy(first + row * stride, first + (row - period) * stride, bytes);
}

void drawLane(QPainter& painter, int top, int bottom, const LaneStrip& lane, const LaneStrip& under)
{
    const auto width = static_cast<int>(lane.pixels.size());
    const auto at = [](const LaneStrip& strip, int x) { return strip.pixels[static_cast<std::size_t>(x)]; };
    for (int x = 0; x < width;) {
        const QRgb color = at(lane, x);
        int end = x + 1;
        while (end < width && at(lane, end) == color)
            ++end;
        const bool same = !under.pixels.empty() && at(under, x) == color && at(under, end - 1) == color;
        if (!same)
            painter.fillRect(QRect(x, top, end - x, bottom - top), QColor(color));
        x = end;
    }
    constexpr int kPeriod = 8;
    const double height = bottom - top;
    for (const LaneStrip::Hatched& hatch : lane.hatches) {
        painter.setPen(QPen(QColor(hatch.color), hatch.sparse ? 1.4 : 2.1, Qt::SolidLine, Qt::FlatCap));
        // Stripes go down to the left and are cut at either end of the hatch.
        for (int x = hatch.left / kPeriod * kPeriod; x < hatch.right + height; x += kPeriod) {
            const double from = std::clamp<double>(x, hatch.left, hatch.right),
                         to = std::clamp<double>(x - height, hatch.left, hatch.right);
            if (from > to)
                painter.drawLine(QPointF(from, top + (x - from)), QPointF(to, top + (x - to)));
        }
    }
}

} // namespace app
