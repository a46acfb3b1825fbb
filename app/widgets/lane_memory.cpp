#include "app/widgets/lane_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

namespace app {

namespace {

constexpr double kWhole = 0.02;          ///< of a pixel: nearer to a whole one nobody sees the difference
constexpr std::size_t kMostLanes = 1000; ///< of a scrolled-through trace: about 30 MB

} // namespace

void LaneMemory::begin(std::shared_ptr<const profiler::Trace> trace, const TimeAxis& axis, double devicePixelRatio,
                       int width)
{
    const bool sameScale =
        trace == m_trace && axis.nsPerPixel() == m_axis.nsPerPixel() && devicePixelRatio == m_ratio && width == m_width;
    const bool zoomedIn = trace != m_trace || axis.nsPerPixel() < m_axis.nsPerPixel();
    m_trace = std::move(trace);
    m_axis = axis;
    m_ratio = devicePixelRatio;
    m_width = width;
    if (sameScale && m_lanes.size() < kMostLanes) {
        // From one fixed place, so that the rests of many pans do not add up.
        const double panned = m_anchorX - m_axis.xOf(m_anchor) * m_ratio;
        if (std::abs(panned - std::round(panned)) < kWhole) {
            m_origin = std::llround(panned);
            return;
        }
    }
    forget(zoomedIn);
}

void LaneMemory::forget(bool zoomedIn)
{
    m_lanes.clear();
    if (zoomedIn)
        m_crowded.clear();
    for (auto& [track, origin] : m_crowded)
        origin -= m_origin;
    m_origin = 0;
    m_anchor = m_axis.visible().begin;
    m_anchorX = m_axis.xOf(m_anchor) * m_ratio;
}

bool LaneMemory::isCrowded(profiler::TrackId track) const
{
    const auto found = m_crowded.find(track);
    return found != m_crowded.end() && std::abs(m_origin - found->second) < m_width / 2;
}

const std::vector<profiler::LodBucket>& LaneMemory::buckets(profiler::TrackId track, int depth)
{
    const auto [entry, isNew] = m_lanes.try_emplace({track, depth});
    Lane& lane = entry->second;
    const std::int64_t panned = m_origin - lane.origin;
    lane.origin = m_origin;
    if (isNew || std::abs(panned) >= m_width) {
        lane.buckets.resize(static_cast<std::size_t>(m_width));
        read(track, depth, lane.buckets, 0, m_width);
    } else if (panned > 0) {
        std::move(lane.buckets.begin() + panned, lane.buckets.end(), lane.buckets.begin());
        read(track, depth, lane.buckets, m_width - static_cast<int>(panned), m_width);
    } else if (panned < 0) {
        std::move_backward(lane.buckets.begin(), lane.buckets.end() + panned, lane.buckets.end());
        read(track, depth, lane.buckets, 0, static_cast<int>(-panned));
    }
    return lane.buckets;
}

void LaneMemory::read(profiler::TrackId track, int depth, std::vector<profiler::LodBucket>& buckets, int from,
                      int to) const
{
    m_trace->summarize(track, depth, {m_axis.timeAt(from / m_ratio), m_axis.timeAt(to / m_ratio)},
                       std::span(buckets).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
}

} // namespace app
