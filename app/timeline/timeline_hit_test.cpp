#include "app/timeline/timeline_hit_test.h"

#include "app/timeline/slice_search.h"
#include "app/timeline/timeline_scene.h"

#include <cmath>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;

namespace {

constexpr double kReach = 3;   ///< tolerance in pixels around a slice
constexpr int kHeaderEdge = 4; ///< tolerance in pixels around the header's edge for resizing
constexpr int kRowEdge = 3;    ///< tolerance in pixels above the lower edge of a row for resizing

} // namespace

std::optional<Slice> sliceAt(const TimelineScene& scene, QPointF at)
{
    if (scene.isEmpty() || !scene.lanesRect().contains(at.toPoint()))
        return std::nullopt;
    const auto lane = scene.rows.laneAt(scene.rowsYAt(at.y()));
    if (!lane)
        return std::nullopt;
    const auto reach = Nanoseconds{static_cast<std::int64_t>(std::ceil(kReach * scene.axis.nsPerPixel()))};
    return nearestSlice(*scene.trace, lane->track, lane->depth, scene.timeAt(at.x()), reach);
}

int rowAt(const TimelineScene& scene, double y)
{
    return y < TimelineScene::kRulerHeight ? -1 : scene.rows.rowAt(scene.rowsYAt(y));
}

int rowWithEdgeAt(const TimelineScene& scene, QPointF at)
{
    if (scene.isEmpty() || at.x() >= scene.headerWidth)
        return -1;
    const int row = rowAt(scene, at.y());
    if (row < 0 || !scene.rows.resizable(row))
        return -1;
    return scene.rows.at(row).bottom() - scene.rowsYAt(at.y()) <= kRowEdge ? row : -1;
}

bool isHeaderEdgeAt(const TimelineScene& scene, QPointF at)
{
    return std::abs(at.x() - scene.headerWidth) <= kHeaderEdge;
}

} // namespace app
