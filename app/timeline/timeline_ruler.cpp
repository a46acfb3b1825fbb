#include "app/look/number_format.h"
#include "app/timeline/timeline_painter.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace app {

namespace {

constexpr int kTickLength = 5;
constexpr double kNarrowest = 3;      ///< minimum width of a step that is drawn individually
constexpr double kNumberSpacing = 64; ///< minimum logical pixels between two step numbers
constexpr double kWholeLabel = 110;   ///< minimum width of a step with its duration

void paintAxis(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const TimelineTheme& theme = scene.theme;
    const double inset = (TimelineScene::kAxisHeight - scene.labels.height()) / 2.0;
    for (const AxisTick& tick : ticks) {
        const double x = scene.xOf(tick.time);
        painter.fillRect(QRectF(x, TimelineScene::kAxisHeight - kTickLength, 1, kTickLength), theme.border);
        if (x + 4 < scene.headerWidth) // "160 ms" cut to "0 ms" would be wrong
            continue;
        scene.labels.draw(painter, x + 4, inset, 200, tick.label, theme.text);
    }
}

/// Steps thinner than pixels are shaded as a whole.
void paintDenseSteps(QPainter& painter, const TimelineScene& scene, const QRectF& strip,
                     std::span<const profiler::analysis::Step> steps, const QColor& color)
{
    double done = strip.left();
    for (auto step = steps.begin(); step != steps.end();) {
        const double left = std::max(done, std::floor(scene.xOf(step->range.begin)));
        done = std::max(left, std::floor(scene.xOf(step->range.end))) + 1;
        painter.fillRect(QRectF(left, strip.top() + 3, done - left, strip.height() - 6), color);
        // Skips steps that end within the same pixel.
        const auto seen = scene.timeAt(done);
        step = std::partition_point(std::next(step), steps.end(),
                                    [&](const auto& later) { return later.range.end <= seen; });
    }
}

/// Steps: numbers if there is space, alternating shades if not, grey if dense.
void paintSteps(QPainter& painter, TimelineScene& scene)
{
    if (!scene.hasSteps())
        return;
    const TimelineTheme& theme = scene.theme;
    const QRectF strip(scene.headerWidth, TimelineScene::kAxisHeight, scene.axis.width(), TimelineScene::kStepsHeight);
    const auto steps = stepsIn(*scene.steps, scene.axis.visible());
    if (steps.empty())
        return;
    const QColor fill = classStyle(SliceClass::Step, theme.dark).fill, second = mixed(fill, theme.header, 0.45);
    const double spacing = (std::min(strip.right(), scene.xOf(steps.back().range.end)) -
                            std::max(strip.left(), scene.xOf(steps.front().range.begin))) /
                           static_cast<double>(steps.size());
    if (spacing < kNarrowest) {
        paintDenseSteps(painter, scene, strip, steps, second);
        return;
    }
    std::vector<std::pair<double, QString>> numbers;
    // Numbers are shown at regular intervals, at round step numbers.
    const std::int64_t every = niceStep(kNumberSpacing / spacing);
    const double y = strip.top() + (strip.height() - scene.labels.height()) / 2.0;
    for (const profiler::analysis::Step& step : steps) {
        const double left = std::max(strip.left(), scene.xOf(step.range.begin));
        const double right = std::min(strip.right(), scene.xOf(step.range.end));
        const QRectF rect(left, strip.top() + 2, std::max(1.0, right - left - 1), strip.height() - 4);
        painter.fillRect(rect, step.index % 2 == 0 ? fill : second);
        if (rect.width() > kWholeLabel) {
            // A step that is cut off on the left has its number only if it does not overlap the title of the next one.
            while (!numbers.empty() &&
                   numbers.back().first + scene.labels.width(numbers.back().second, theme.text) > rect.left())
                numbers.pop_back();
            scene.labels.draw(painter, rect.left() + 4, y, rect.width() - 6,
                              stepTitle(step) + QStringLiteral(" · ") + formatDuration(step.range.duration()),
                              theme.text);
        } else if (step.index % every == 0) {
            numbers.push_back({rect.left() + 4, formatCount(step.index)});
        }
    }
    for (const auto& [x, number] : numbers)
        scene.labels.draw(painter, x, y, kNumberSpacing, number, theme.text);
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
    if (scene.hasSteps())
        if (const QString span = stepSpan(*scene.steps, *scene.range); !span.isEmpty())
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

void paintRuler(QPainter& painter, TimelineScene& scene, const std::vector<AxisTick>& ticks)
{
    const QRect ruler(scene.headerWidth, 0, scene.size.width() - scene.headerWidth, TimelineScene::kRulerHeight);
    painter.save();
    painter.setClipRect(ruler);
    painter.fillRect(ruler, scene.theme.header);
    paintAxis(painter, scene, ticks);
    paintSteps(painter, scene);
    paintMarkFlags(painter, scene);
    paintRange(painter, scene);
    painter.restore();
    painter.fillRect(QRect(0, TimelineScene::kRulerHeight - 1, scene.size.width(), 1), scene.theme.border);
}

} // namespace app
