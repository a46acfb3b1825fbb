#include "app/look/swatch.h"

#include <cmath>

namespace app {

namespace {
constexpr int kSize = 12;
constexpr int kPeriod = 8; ///< the hatch period of the timeline's tracks
} // namespace

QPixmap swatch(SliceClass which, bool dark, double devicePixelRatio)
{
    const int pixels = static_cast<int>(std::lround(kSize * devicePixelRatio));
    QPixmap pixmap(pixels, pixels);
    pixmap.setDevicePixelRatio(devicePixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    fillAs(painter, QRectF(0, 0, kSize, kSize), which, dark);
    painter.setPen(classStyle(which, dark).edge);
    painter.drawRect(QRectF(0, 0, kSize - 1, kSize - 1));
    return pixmap;
}

void fillAs(QPainter& painter, const QRectF& rect, SliceClass which, bool dark)
{
    const ClassStyle& style = classStyle(which, dark);
    painter.fillRect(rect, style.fill);
    if (style.pattern == FillPattern::Solid)
        return;
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(style.second, style.pattern == FillPattern::Hatch ? 2.1 : 1.4));
    const double height = rect.height();
    // Hatch lines start at multiples of the period within the whole widget, so that neighbouring swatches line up.
    const double first = std::floor((rect.left() + rect.top()) / kPeriod) * kPeriod - rect.top();
    for (double x = first; x < rect.right() + height; x += kPeriod)
        painter.drawLine(QPointF(x, rect.top()), QPointF(x - height, rect.bottom()));
    painter.restore();
}

} // namespace app
