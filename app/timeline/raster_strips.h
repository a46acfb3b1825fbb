#pragma once

#include <QColor>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QRectF>
#include <algorithm>
#include <cmath>

namespace app {

/// Calls `draw()` with the painter clipped to one strip of `area` after another. Qt's raster engine passes a
/// translucent shape of 96 or more spans of pixels to a thread pool and waits for it, so that on a busy machine a frame
/// waits for each such shape. It draws smaller and opaque shapes itself. Other engines (SVG) get the whole area.
template <class Draw>
void drawInStrips(QPainter& painter, const QRectF& area, Draw&& draw)
{
    constexpr double kRows = 64;
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        draw();
        return;
    }
    const double ratio = painter.device()->devicePixelRatio();
    // Strips end between pixel rows, so that no row is drawn twice.
    for (double row = std::floor(area.top() * ratio), end = std::ceil(area.bottom() * ratio); row < end; row += kRows) {
        painter.save();
        painter.setClipRect(QRectF(area.left(), row / ratio, area.width(), std::min(kRows, end - row) / ratio),
                            Qt::IntersectClip);
        draw();
        painter.restore();
    }
}

/// Fills a rectangle with a translucent colour.
inline void fillInStrips(QPainter& painter, const QRectF& area, const QColor& color)
{
    drawInStrips(painter, area, [&] { painter.fillRect(area, color); });
}

} // namespace app
