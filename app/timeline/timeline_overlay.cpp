#include "app/look/number_format.h"
#include "app/tables/slice_details.h"
#include "app/timeline/pinned_cards.h"
#include "app/timeline/raster_strips.h"
#include "app/timeline/timeline_painter.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace app {

namespace {

constexpr int kHoverWidth = 330;
constexpr int kHoverOffset = 16;
constexpr int kHoverInset = 8;

QColor withAlpha(QColor color, int alpha)
{
    color.setAlpha(alpha);
    return color;
}

/// Clamps a rectangle to the range that the raster engine handles well.
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
    // Two colours, so that it is visible on every fill.
    painter.setPen(QPen(scene.theme.background, 4));
    painter.drawRect(rect);
    painter.setPen(QPen(scene.theme.text, 2));
    painter.drawRect(rect);
}

/// Outlines the marked slices, and tints the marked times. Of those that begin on one pixel, one is drawn.
void paintMarked(QPainter& painter, const TimelineScene& scene, const MarkedItems& marked)
{
    const profiler::TimeRange visible = scene.axis.visible();
    const QRectF lanes = scene.lanesRect();
    painter.setBrush(Qt::NoBrush); // the fill shows the kind of the slice
    painter.setPen(QPen(scene.theme.found, 2));
    QPointF last;
    for (const profiler::Slice& slice : marked.slices) {
        if (slice.begin >= visible.end || slice.end() < visible.begin)
            continue;
        QRectF rect = scene.rectOf(slice);
        if (rect.isEmpty() && rect.height() <= 0)
            continue;
        rect.setWidth(std::max(rect.width(), 2.0));
        rect = clipped(scene, rect);
        if (rect.isEmpty() || rect.topLeft().toPoint() == last.toPoint())
            continue;
        last = rect.topLeft();
        painter.drawRect(rect);
    }
    double lastLeft = -1;
    for (const profiler::TimeRange& range : marked.ranges) {
        const double left = std::floor(scene.xOf(range.begin)), right = scene.xOf(range.end);
        const QRectF area(left, lanes.top(), std::max(right - left, 1.0), lanes.height());
        if (left == lastLeft || !area.intersects(lanes))
            continue;
        lastLeft = left;
        fillInStrips(painter, clipped(scene, area), withAlpha(scene.theme.found, 60));
    }
}

} // namespace

void paintOverlay(QPainter& painter, TimelineScene& scene, const FlowsInView& inView)
{
    const double bottom = scene.size.height();
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (scene.range) {
        const double left = scene.xOf(scene.range->begin), right = scene.xOf(scene.range->end);
        const QRectF area(left, TimelineScene::kRulerHeight, right - left, bottom);
        fillInStrips(painter, clipped(scene, area), withAlpha(scene.theme.accent, 38));
        for (const double x : {left, right})
            painter.fillRect(QRectF(x, TimelineScene::kRulerHeight, 1, bottom), scene.theme.accent);
    }
    if (scene.marked)
        paintMarked(painter, scene, *scene.marked);
    if (scene.hovered && (!scene.selected || scene.hovered->id != scene.selected->id))
        paintOutline(painter, scene, *scene.hovered, false);
    if (scene.selected)
        paintOutline(painter, scene, *scene.selected, true);
    const profiler::TimeRange visible = scene.axis.visible();
    for (const profiler::Slice& slice : scene.several)
        if (slice.begin < visible.end && slice.end() >= visible.begin)
            paintOutline(painter, scene, slice, true);
    if (scene.pointerInside && scene.pointer.x() >= scene.headerWidth)
        fillInStrips(painter,
                     QRectF(std::floor(scene.pointer.x()), TimelineScene::kRulerHeight, 1,
                            scene.size.height() - TimelineScene::kRulerHeight),
                     withAlpha(scene.theme.text, 70));
    paintMarks(painter, scene);
    paintFlows(painter, scene, inView);
}

void paintHoverCard(QPainter& painter, TimelineScene& scene)
{
    if (!scene.hovered || !scene.pointerInside)
        return;
    LabelCache& labels = scene.labels;
    const TimelineTheme& theme = scene.theme;
    const QString title = sliceTitle(*scene.trace, *scene.hovered);
    const std::vector<SliceDetail> facts = tooltipFacts(scene, *scene.hovered);
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
    drawInStrips(painter, card, [&] { painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4); });
    const ClassStyle& style = scene.colors(scene.hovered->kind, scene.hovered->name, theme.dark);
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
