#include "app/models/slice_details.h"
#include "app/widgets/number_format.h"
#include "app/widgets/timeline_painter.h"

#include <QCoreApplication>
#include <QPainterPath>
#include <algorithm>

namespace app {

namespace {

constexpr int kHoverWidth = 330;
constexpr int kHoverOffset = 16;
constexpr int kHoverInset = 8;
constexpr double kFar = 16000; ///< pixels beyond which the raster engine loses precision

QColor withAlpha(QColor color, int alpha)
{
    color.setAlpha(alpha);
    return color;
}

/// Keeps a rectangle within what the raster engine handles well.
QRectF clipped(const TimelineScene& scene, const QRectF& rect)
{
    return rect.intersected(QRectF(scene.lanesRect()).adjusted(-8, -8, 8, 8));
}

void paintOutline(QPainter& painter, const TimelineScene& scene, const profiler::Slice& slice, bool selected)
{
    const QRectF rect = clipped(scene, scene.rectOf(slice));
    if (rect.isEmpty())
        return;
    painter.setBrush(Qt::NoBrush);
    if (!selected) {
        painter.setPen(QPen(scene.theme.text, 1));
        painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
        return;
    }
    // Two tones, so that it stands out from every fill.
    painter.setPen(QPen(scene.theme.background, 4));
    painter.drawRect(rect);
    painter.setPen(QPen(scene.theme.text, 2));
    painter.drawRect(rect);
}

void paintFlow(QPainter& painter, const TimelineScene& scene, const profiler::Flow& flow)
{
    const QRectF from = scene.rectOf(scene.trace->slice(flow.from));
    const QRectF to = scene.rectOf(scene.trace->slice(flow.to));
    if (from.isEmpty() || to.isEmpty())
        return;
    const auto bounded = [](QPointF p) { return QPointF(std::clamp(p.x(), -kFar, kFar), p.y()); };
    const QPointF start =
        bounded({flow.kind == profiler::FlowKind::Launch ? from.left() : from.right(), from.center().y()});
    const QPointF end = bounded({to.left(), to.center().y()});
    const double bend = std::clamp(std::abs(end.x() - start.x()) / 2, 24.0, 160.0);
    QPainterPath path(start);
    path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(scene.theme.background, 4));
    painter.drawPath(path);
    painter.setPen(QPen(scene.theme.accent, 1.75));
    painter.drawPath(path);
    painter.setPen(Qt::NoPen);
    painter.setBrush(scene.theme.accent);
    painter.drawPolygon(QPolygonF{end, end + QPointF(-7, -4), end + QPointF(-7, 4)});
}

void paintMark(QPainter& painter, TimelineScene& scene)
{
    if (!scene.mark)
        return;
    const double x = scene.xOf(*scene.mark);
    const QColor color = classStyle(SliceClass::Communication, scene.theme.dark).fill;
    painter.fillRect(QRectF(x, TimelineScene::kRulerHeight, 1.5, scene.size.height()), color);
    if (!scene.pointerInside)
        return;
    const double y = scene.size.height() - 14.0;
    painter.setPen(QPen(color, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, y), QPointF(scene.pointer.x(), y));
    const auto between = scene.timeAt(scene.pointer.x()) - *scene.mark;
    const QString text = formatDuration(between < profiler::Nanoseconds{0} ? -between : between);
    const double width = scene.labels.width(text, scene.theme.text);
    const QRectF box((x + scene.pointer.x() - width) / 2 - 4, y - scene.labels.height() / 2.0 - 1, width + 8,
                     scene.labels.height() + 2);
    painter.fillRect(box, scene.theme.header);
    scene.labels.draw(painter, box.left() + 4, box.top() + 1, width + 1, text, scene.theme.text);
}

} // namespace

void paintOverlay(QPainter& painter, TimelineScene& scene)
{
    const double bottom = scene.size.height();
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (scene.range) {
        const double left = scene.xOf(scene.range->begin), right = scene.xOf(scene.range->end);
        const QRectF area(left, TimelineScene::kRulerHeight, right - left, bottom);
        painter.fillRect(clipped(scene, area), withAlpha(scene.theme.accent, 38));
        for (const double x : {left, right})
            painter.fillRect(QRectF(x, TimelineScene::kRulerHeight, 1, bottom), scene.theme.accent);
    }
    if (scene.hovered && (!scene.selected || scene.hovered->id != scene.selected->id))
        paintOutline(painter, scene, *scene.hovered, false);
    if (scene.selected)
        paintOutline(painter, scene, *scene.selected, true);
    if (scene.pointerInside && scene.pointer.x() >= scene.headerWidth)
        painter.fillRect(
            QRect(static_cast<int>(scene.pointer.x()), TimelineScene::kRulerHeight, 1, scene.size.height()),
            withAlpha(scene.theme.text, 70));
    paintMark(painter, scene);
    painter.setRenderHint(QPainter::Antialiasing, true);
    for (const profiler::Flow& flow : scene.flows)
        paintFlow(painter, scene, flow);
}

void paintHoverCard(QPainter& painter, TimelineScene& scene)
{
    if (!scene.hovered || !scene.pointerInside)
        return;
    LabelCache& labels = scene.labels;
    const TimelineTheme& theme = scene.theme;
    const QString title = sliceTitle(*scene.trace, *scene.hovered);
    const auto facts = sliceFacts(*scene.trace, *scene.hovered);
    const int line = labels.height() + 2;
    double labelWidth = 0, width = labels.width(title, theme.text);
    for (const SliceDetail& fact : facts)
        labelWidth = std::max(labelWidth, labels.width(fact.label, theme.dimText) + 12);
    for (const SliceDetail& fact : facts)
        width = std::max(width, labelWidth + labels.width(fact.value, theme.text));
    width = std::min(width, static_cast<double>(kHoverWidth));
    const QSizeF size(width + 2 * kHoverInset, line * (static_cast<double>(facts.size()) + 1) + 2 * kHoverInset + 3);
    QPointF at = scene.pointer + QPointF(kHoverOffset, kHoverOffset);
    if (at.x() + size.width() > scene.size.width())
        at.setX(std::max(0.0, scene.pointer.x() - kHoverOffset - size.width()));
    if (at.y() + size.height() > scene.size.height())
        at.setY(std::max(0.0, scene.pointer.y() - kHoverOffset - size.height()));
    at = at.toPoint();
    const QRectF card(at, size);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(theme.border, 1));
    painter.setBrush(mixed(theme.background, theme.text, theme.dark ? 0.1 : 0.01));
    painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    const ClassStyle& style = scene.colors(*scene.trace, scene.hovered->kind, scene.hovered->name, theme.dark);
    painter.fillRect(QRectF(card.left() + 1, card.top() + 4, 3, card.height() - 8), style.fill);
    double y = card.top() + kHoverInset;
    labels.draw(painter, card.left() + kHoverInset, y, width + 1, title, theme.text);
    y += line + 3;
    for (const SliceDetail& fact : facts) {
        labels.draw(painter, card.left() + kHoverInset, y, labelWidth, fact.label, theme.dimText);
        labels.draw(painter, card.left() + kHoverInset + labelWidth, y, width - labelWidth + 1, fact.value, theme.text);
        y += line;
    }
}

} // namespace app
