#include "app/timeline/timeline_painter.h"

#include <QCoreApplication>
#include <QPainterPath>
#include <algorithm>

// Arrows from cause to effect.
namespace app {

namespace {

constexpr double kFar = 16000; ///< pixels beyond which the raster engine loses precision

struct Ends {
    QPointF from, to;
    bool upright = false; ///< from a lane to one below it at the same x
};

std::optional<Ends> endsOf(const TimelineScene& scene, const FlowArrow& arrow)
{
    const QRectF from = scene.rectOf(arrow.from), to = scene.rectOf(arrow.to);
    if (from.isEmpty() || to.isEmpty())
        return std::nullopt;
    const auto bounded = [](QPointF p) { return QPointF(std::clamp(p.x(), -kFar, kFar), p.y()); };
    if (arrow.kind == FlowArrow::Kind::Call) {
        const double x = to.left() + std::min(2.0, to.width() / 2);
        return Ends{bounded({x, from.bottom()}), bounded({x, to.top()}), true};
    }
    const bool launch = arrow.kind == FlowArrow::Kind::Launch;
    return Ends{bounded({launch ? from.left() : from.right(), from.center().y()}),
                bounded({to.left(), to.center().y()}), false};
}

QPainterPath pathOf(const Ends& ends)
{
    QPainterPath path(ends.from);
    if (ends.upright) {
        path.lineTo(ends.to);
    } else {
        const double bend = std::clamp(std::abs(ends.to.x() - ends.from.x()) / 2, 24.0, 160.0);
        path.cubicTo(ends.from + QPointF(bend, 0), ends.to - QPointF(bend, 0), ends.to);
    }
    return path;
}

void paintHead(QPainter& painter, const Ends& ends, const QColor& color)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (ends.upright)
        painter.drawPolygon(QPolygonF{ends.to, ends.to + QPointF(-3, -5), ends.to + QPointF(3, -5)});
    else
        painter.drawPolygon(QPolygonF{ends.to, ends.to + QPointF(-7, -4), ends.to + QPointF(-7, 4)});
}

/// An arrow of the selected slice, visible on every fill. Its colours are opaque, because Qt would pass a translucent
/// shape of this height to a thread pool, see raster_strips.h.
void paintArrow(QPainter& painter, const TimelineScene& scene, const Ends& ends)
{
    constexpr double kWidth = 1.75, kHalo = 4;
    const QPainterPath path = pathOf(ends);
    painter.setBrush(Qt::NoBrush);
    for (const QPen& pen : {QPen(scene.theme.background, kHalo), QPen(scene.theme.accent, kWidth)}) {
        painter.setPen(pen);
        painter.drawPath(path);
    }
    paintHead(painter, ends, scene.theme.accent);
}

/// One of hundreds of arrows: a line one device pixel wide, which costs a tenth of a wider one.
void paintFaintArrow(QPainter& painter, const Ends& ends, const QColor& color)
{
    QPen pen(color, 1);
    pen.setCosmetic(true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(pen);
    painter.drawPath(pathOf(ends));
    paintHead(painter, ends, color);
}

/// Shows why there are no arrows.
void paintTooMany(QPainter& painter, TimelineScene& scene)
{
    const QString text = QCoreApplication::translate("Timeline", "Too many flows: zoom in to see them");
    const double width = scene.labels.width(text, scene.theme.text);
    const QRectF box(scene.size.width() - width - 24, TimelineScene::kRulerHeight + 8, width + 16,
                     scene.labels.height() + 6);
    painter.setPen(QPen(scene.theme.border, 1));
    painter.setBrush(scene.theme.header);
    painter.drawRoundedRect(box, 3, 3);
    scene.labels.draw(painter, box.left() + 8, box.top() + 3, width + 1, text, scene.theme.text);
}

} // namespace

void paintFlows(QPainter& painter, TimelineScene& scene, const FlowsInView& inView)
{
    painter.setRenderHint(QPainter::Antialiasing, true);
    const QColor faint = mixed(scene.theme.background, scene.theme.accent, 0.7);
    for (const FlowArrow& arrow : inView.arrows)
        if (const auto ends = endsOf(scene, arrow))
            paintFaintArrow(painter, *ends, faint);
    for (const FlowArrow& arrow : scene.flows)
        if (const auto ends = endsOf(scene, arrow))
            paintArrow(painter, scene, *ends);
    if (inView.tooMany)
        paintTooMany(painter, scene);
}

} // namespace app
