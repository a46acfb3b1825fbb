#include "app/models/slice_details.h"
#include "app/widgets/number_format.h"
#include "app/widgets/timeline_painter.h"

#include <algorithm>

namespace app {

namespace {

constexpr int kTickLength = 5;
constexpr double kNumberSpacing = 64; ///< least logical pixels between two steps' numbers
constexpr double kWholeLabel = 110;   ///< … of a step that carries its duration too

void paintAxis(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const TimelineTheme& theme = scene.theme;
    const double inset = (TimelineScene::kAxisHeight - scene.labels.height()) / 2.0;
    for (const AxisTick& tick : ticks) {
        const double x = scene.xOf(tick.time);
        painter.fillRect(QRectF(x, TimelineScene::kAxisHeight - kTickLength, 1, kTickLength), theme.border);
        if (x + 4 < scene.headerWidth) // "160 ms" cut to "0 ms" would be another time
            continue;
        scene.labels.draw(painter, x + 4, inset, 200, tick.label, tick.isBase ? theme.text : theme.dimText);
    }
}

/// The steps: their numbers where there is room, alternating shades where there is not, grey where they are dense.
void paintSteps(QPainter& painter, TimelineScene& scene, LaneMemory* memory)
{
    const auto track = scene.stepTrack();
    if (!track)
        return;
    const TimelineTheme& theme = scene.theme;
    const QRectF strip(scene.headerWidth, TimelineScene::kAxisHeight, scene.axis.width(), TimelineScene::kStepsHeight);
    LaneBuilder builder(*scene.trace, scene.colors, theme, scene.axis, scene.ratio);
    builder.setMemory(memory);
    builder.setBackground(theme.header, theme.header, {});
    const LaneStrip& steps = builder.build(*track, 0, 1).front();
    const double inset = (TimelineScene::kStepsHeight - scene.labels.height()) / 2.0;
    const ClassStyle& style = classStyle(SliceClass::Step, theme.dark);
    if (steps.boxes.empty()) {
        QImage lane(static_cast<int>(steps.pixels.size()), 1, QImage::Format_RGB32);
        drawLane(lane, 0, 0, 1, steps);
        painter.drawImage(strip.adjusted(0, 3, 0, -3), lane);
        return;
    }
    std::vector<std::pair<double, QString>> numbers;
    double total = 0;
    for (const LaneStrip::Box& box : steps.boxes)
        total += (box.right - box.left) / scene.ratio;
    // Every so many steps have a number, at round ones, so that the numbers stand regularly.
    const std::int64_t every = niceStep(kNumberSpacing / (total / static_cast<double>(steps.boxes.size())));
    for (const LaneStrip::Box& box : steps.boxes) {
        if (scene.colors.classOf(*scene.trace, box.slice.kind, box.slice.name) != SliceClass::Step)
            continue;
        const QRectF rect(scene.headerWidth + box.left / scene.ratio, strip.top() + 2,
                          (box.right - box.left) / scene.ratio - 1, strip.height() - 4);
        painter.fillRect(rect, box.slice.args.value % 2 == 0 ? style.fill : mixed(style.fill, theme.header, 0.45));
        const double y = strip.top() + inset;
        if (rect.width() > kWholeLabel) {
            // A step that is cut off at the left has its number only where it does not run into the next one's title.
            while (!numbers.empty() &&
                   numbers.back().first + scene.labels.width(numbers.back().second, theme.text) > rect.left())
                numbers.pop_back();
            scene.labels.draw(painter, rect.left() + 4, y, rect.width() - 6,
                              sliceTitle(*scene.trace, box.slice) + QStringLiteral(" · ") +
                                  formatDuration(box.slice.duration),
                              theme.text);
        } else if (box.slice.args.value % every == 0) {
            numbers.push_back({rect.left() + 4, formatCount(box.slice.args.value)});
        }
    }
    for (const auto& [x, number] : numbers)
        scene.labels.draw(painter, x, strip.top() + inset, kNumberSpacing, number, theme.text);
}

void paintRange(QPainter& painter, TimelineScene& scene)
{
    if (!scene.range)
        return;
    const double left = scene.xOf(scene.range->begin), right = scene.xOf(scene.range->end);
    const TimelineTheme& theme = scene.theme;
    painter.fillRect(QRectF(left, 0, right - left, TimelineScene::kRulerHeight),
                     QColor(theme.accent.red(), theme.accent.green(), theme.accent.blue(), 60));
    QString text = formatDuration(scene.range->duration());
    if (const auto steps = scene.stepTrack())
        if (const QString span = stepSpan(*scene.trace, *steps, *scene.range); !span.isEmpty())
            text += QStringLiteral(" · ") + span;
    const QColor ink = contrastRatio(theme.accent, Qt::white) >= 4.5 ? Qt::white : Qt::black;
    const double width = scene.labels.width(text, ink) + 12;
    const double begin = std::max(left, static_cast<double>(scene.headerWidth)),
                 end = std::min(right, static_cast<double>(scene.size.width()));
    if (end <= begin)
        return;
    const double x =
        std::clamp((begin + end - width) / 2, static_cast<double>(scene.headerWidth), scene.size.width() - width);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.accent);
    painter.drawRoundedRect(QRectF(x, 3, width, TimelineScene::kAxisHeight - 6), 3, 3);
    scene.labels.draw(painter, x + 6, (TimelineScene::kAxisHeight - scene.labels.height()) / 2.0, width, text, ink);
}

} // namespace

void paintRuler(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks, LaneMemory* memory)
{
    const QRect ruler(scene.headerWidth, 0, scene.size.width() - scene.headerWidth, TimelineScene::kRulerHeight);
    painter.save();
    painter.setClipRect(ruler);
    painter.fillRect(ruler, scene.theme.header);
    paintAxis(painter, scene, ticks);
    paintSteps(painter, scene, memory);
    paintMarkFlags(painter, scene);
    paintRange(painter, scene);
    painter.restore();
    painter.fillRect(QRect(0, TimelineScene::kRulerHeight - 1, scene.size.width(), 1), scene.theme.border);
}

} // namespace app
