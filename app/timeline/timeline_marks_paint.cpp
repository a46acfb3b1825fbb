#include "app/look/number_format.h"
#include "app/timeline/timeline_painter.h"

#include <algorithm>

// Marks, bookmarks, and distances from them to the pointer.
namespace app {

namespace {

constexpr double kLongestNote = 180;

QColor markColor(const TimelineScene& scene)
{
    return classStyle(SliceClass::Communication, scene.theme.dark).fill;
}

/// A label on its own background, centred on x and kept on screen.
void paintPlate(QPainter& painter, TimelineScene& scene, double x, double y, const QString& text)
{
    const double width = scene.labels.width(text, scene.theme.text) + 8;
    const double left = std::clamp(x - width / 2, double(scene.headerWidth),
                                   std::max<double>(scene.headerWidth, scene.size.width() - width));
    painter.fillRect(QRectF(left, y, width, scene.labels.height() + 2), scene.theme.header);
    scene.labels.draw(painter, left + 4, y + 1, width, text, scene.theme.text);
}

} // namespace

void paintMarks(QPainter& painter, TimelineScene& scene)
{
    const QColor color = markColor(scene);
    const double top = TimelineScene::kRulerHeight, height = scene.size.height() - top;
    const TimelineMark* before = nullptr;
    for (const TimelineMark& mark : scene.marks.all()) {
        const double x = scene.xOf(mark.time);
        painter.fillRect(QRectF(x, top, mark.bookmark ? 1 : 1.5, height), color);
        // The distance is shown between two marks.
        if (before && !mark.bookmark && !before->bookmark) {
            const double y = scene.size.height() - 34.0, from = scene.xOf(before->time);
            painter.fillRect(QRectF(from, y + 8, x - from, 1), color);
            paintPlate(painter, scene,
                       (std::max<double>(from, scene.headerWidth) + std::min<double>(x, scene.size.width())) / 2, y,
                       formatDuration(mark.time - before->time));
        }
        before = &mark;
    }
    const auto origin = scene.marks.origin();
    if (!origin || !scene.pointerInside)
        return;
    const double y = scene.size.height() - 14.0, x = scene.xOf(*origin);
    painter.setPen(QPen(color, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, y), QPointF(scene.pointer.x(), y));
    const auto at = scene.timeAt(scene.pointer.x());
    const profiler::TimeRange between{std::min(at, *origin), std::max(at, *origin)};
    QString text = formatDuration(between.duration());
    if (scene.hasSteps())
        if (const QString span = stepSpan(*scene.steps, between); !span.isEmpty())
            text += QStringLiteral(" · ") + span;
    paintPlate(painter, scene, (x + scene.pointer.x()) / 2, y - scene.labels.height() / 2.0 - 1, text);
}

void paintMarkFlags(QPainter& painter, TimelineScene& scene)
{
    const QColor color = markColor(scene);
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const TimelineMark& mark : scene.marks.all()) {
        const double x = scene.xOf(mark.time), foot = TimelineScene::kAxisHeight;
        if (x < scene.headerWidth || x > scene.size.width())
            continue;
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        if (!mark.bookmark) {
            painter.drawPolygon(QPolygonF{QPointF(x - 4, foot - 7), QPointF(x + 5, foot - 7), QPointF(x + 0.75, foot)});
            continue;
        }
        const QColor ink = contrastRatio(color, Qt::white) >= 4.5 ? Qt::white : Qt::black;
        const double width = mark.note.isEmpty() ? 8 : std::min(kLongestNote, scene.labels.width(mark.note, ink)) + 10;
        painter.drawRoundedRect(QRectF(x, 2, width, foot - 4), 2, 2);
        painter.fillRect(QRectF(x, 2, 1.5, foot), color);
        if (!mark.note.isEmpty())
            scene.labels.draw(painter, x + 5, (foot - scene.labels.height()) / 2.0, width - 8, mark.note, ink);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace app
