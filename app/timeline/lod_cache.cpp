#include "app/timeline/lod_cache.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

namespace app {

namespace {

constexpr double kWhole = 0.02;         ///< offset in pixels from a whole pixel that is not visible
constexpr std::size_t kMostLanes = 500; ///< cached lanes of a scrolled trace: about 30 MB
/// Scales within this factor share buckets while zooming: two notches of a wheel.
constexpr double kMostStretch = 1.45;
/// the same if the frame has no time left to read
constexpr double kFarthest = 4;

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

const std::vector<profiler::ColoredBucket>& LodCache::buckets(profiler::TrackId track, int depth)
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

void LodCache::readAll(profiler::TrackId track, int depth, Lane& lane)
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
bool LodCache::pan(profiler::TrackId track, int depth, Lane& lane) const
{
    if (lane.axis.nsPerPixel() != m_axis.nsPerPixel() || lane.edges != m_edges)
        return false;
    // Measured from the last complete read, so that the rounding errors of many pans do not add up.
    const profiler::TraceTime anchor = lane.axis.visible().begin;
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
bool LodCache::stretch(profiler::TrackId track, int depth, Lane& lane, double most) const
{
    const double step = m_axis.nsPerPixel() / lane.axis.nsPerPixel(); // known buckets per pixel
    if (step > most || step < 1 / most)
        return false;
    const profiler::TraceTime anchor = lane.axis.visible().begin;
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

void LodCache::read(profiler::TrackId track, int depth, std::vector<profiler::ColoredBucket>& buckets, int from, int to,
                    profiler::LodEdges edges) const
{
    if (from >= to)
        return;
    summarize(*m_trace, track, depth, {m_axis.timeAt(from / m_ratio), m_axis.timeAt(to / m_ratio)},
              std::span(buckets).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)), edges,
              *m_palette);
}

} // namespace app
