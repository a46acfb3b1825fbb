#include "app/timeline/timeline_scene.h"

#include <algorithm>

namespace app {

namespace {

constexpr double kMostPinned = 0.7; ///< maximum share of the height for pinned rows; if they need more, they scroll
                                    ///< like others

} // namespace

int TimelineScene::pinnedHeight() const
{
    const int wanted = rows.pinnedHeight();
    return wanted <= fullWidth().height() * kMostPinned ? wanted : 0;
}

std::optional<profiler::TimeRange> TimelineScene::selectedTime() const
{
    if (selected)
        return selected->range();
    if (several.empty())
        return range;
    profiler::TimeRange all = several.front().range();
    for (const profiler::Slice& slice : several)
        all = {std::min(all.begin, slice.begin), std::max(all.end, slice.end())};
    return all;
}

QRect TimelineScene::pinnedRect() const
{
    QRect rect = fullWidth();
    rect.setHeight(pinnedHeight());
    return rect;
}

int TimelineScene::rowsYAt(double y) const
{
    const int below = static_cast<int>(y) - kRulerHeight;
    return below < pinnedHeight() ? below : below + scrollY;
}

bool TimelineScene::inView(const TrackRow& row) const
{
    const QRect part = row.pinned && pinnedHeight() > 0 ? pinnedRect() : scrolledRect();
    const int top = topOf(row);
    return top <= part.bottom() && top + row.height > part.top();
}

QRectF TimelineScene::rectOf(const profiler::Slice& slice) const
{
    const int index = rows.rowOf(slice.id.track);
    if (index < 0)
        return {};
    const TrackRow& row = rows.at(index);
    const double left = xOf(slice.begin);
    const double width = std::max(1.0, xOf(slice.end()) - left);
    if (row.kind == TrackRow::Kind::Track && row.showsDepth(slice.depth))
        return {left, static_cast<double>(yOf(row, row.laneTop(slice.depth))), width, row.laneHeight - 1.0};
    return {left, static_cast<double>(topOf(row)), width, static_cast<double>(row.height)};
}

const CounterSeries& TimelineScene::samples(profiler::TrackId counter)
{
    CounterSeries& series = counters[counter];
    series.read(*trace, counter);
    return series;
}

} // namespace app
