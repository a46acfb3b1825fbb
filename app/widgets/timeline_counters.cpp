#include "app/widgets/timeline_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::CounterSample;

namespace {

constexpr int kMargin = 4; ///< above and below the curve

struct Extent {
    double low = 0, high = 1;
    [[nodiscard]] double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

Extent extentOf(const std::vector<CounterSample>& samples)
{
    const auto [low, high] = std::minmax_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    return {low->value, high->value};
}

/// A step line: a value holds until the next sample. Samples of one pixel become one upright line.
void paintCurve(QPainter& painter, TimelineScene& scene, const TrackRow& row)
{
    const auto& samples = scene.samples(row.track);
    if (samples.empty())
        return;
    const Extent extent = extentOf(samples);
    const auto visible = scene.axis.visible();
    const auto later = [](profiler::TraceTime time, const CounterSample& s) { return time < s.time; };
    auto at = std::upper_bound(samples.begin(), samples.end(), visible.begin, later);
    if (at != samples.begin())
        --at;
    const double bottom = scene.yOf(row.top) + row.height - kMargin, room = row.height - 2.0 * kMargin;
    const auto yOf = [&](double value) { return bottom - room * extent.share(value); };
    QPolygonF line;
    for (; at != samples.end() && at->time < visible.end;) {
        const double x = std::max(scene.xOf(at->time), static_cast<double>(scene.headerWidth));
        const auto next = std::upper_bound(at, samples.end(), scene.timeAt(x + 1 / scene.ratio), later);
        const auto [low, high] = std::minmax_element(at, std::max(next, at + 1), [](const auto& a, const auto& b) { return a.value < b.value; });
        const auto last = std::max(next, at + 1) - 1;
        if (!line.isEmpty())
            line << QPointF(x, line.last().y());
        line << QPointF(x, yOf(low->value)) << QPointF(x, yOf(high->value)) << QPointF(x, yOf(last->value));
        at = last + 1;
    }
    if (line.isEmpty())
        return;
    const double right = at == samples.end() ? std::min(scene.xOf(scene.axis.bounds().end), static_cast<double>(scene.size.width())) : scene.size.width();
    line << QPointF(std::max(right, line.last().x()), line.last().y());
    QPolygonF area = line;
    area << QPointF(line.last().x(), bottom) << QPointF(line.first().x(), bottom);
    QColor fill = classStyle(SliceClass::CopyToDevice, scene.theme.dark).fill;
    painter.setPen(Qt::NoPen);
    fill.setAlpha(45);
    painter.setBrush(fill);
    painter.drawPolygon(area);
    fill.setAlpha(255);
    painter.setPen(QPen(fill, 1.25));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
}

} // namespace

void paintCounters(QPainter& painter, TimelineScene& scene)
{
    for (const TrackRow& row : scene.rows.all())
        if (row.kind == TrackRow::Kind::Counter && scene.yOf(row.top) < scene.size.height() &&
            scene.yOf(row.top + row.height) > TimelineScene::kRulerHeight)
            paintCurve(painter, scene, row);
}

} // namespace app
