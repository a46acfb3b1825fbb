#include "app/widgets/timeline_scene.h"

#include <algorithm>

namespace app {

QRectF TimelineScene::rectOf(const profiler::Slice& slice) const
{
    const int index = rows.rowOf(slice.id.track);
    if (index < 0)
        return {};
    const TrackRow& row = rows.all()[static_cast<std::size_t>(index)];
    const double left = xOf(slice.begin);
    const double width = std::max(1.0, xOf(slice.end()) - left);
    if (row.kind == TrackRow::Kind::Track && row.showsDepth(slice.depth))
        return {left, static_cast<double>(yOf(row.laneTop(slice.depth))), width, TrackRows::kLaneHeight - 1.0};
    return {left, static_cast<double>(yOf(row.top)), width, static_cast<double>(row.height)};
}

std::optional<profiler::TrackId> TimelineScene::stepTrack() const
{
    if (!trace)
        return std::nullopt;
    for (const profiler::Track& track : trace->tracks())
        if (track.kind == profiler::TrackKind::MainThread)
            return track.id;
    return std::nullopt;
}

const std::vector<profiler::CounterSample>& TimelineScene::samples(profiler::TrackId counter)
{
    const auto known = counters.find(counter);
    return known != counters.end() ? known->second : counters.emplace(counter, trace->counter(counter)).first->second;
}

} // namespace app
