#pragma once

#include <QColor>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QRectF>
#include <algorithm>
#include <cmath>

namespace app {

/// Calls `draw()` with the painter clipped to one strip of `area` after the other. Qt's raster engine hands a
/// shape of 96 spans of pixels and more whose colour lets through what lies below it to the threads of a pool and waits
/// for them: on a busy machine a frame stands in line for each such shape. Fewer spans, and opaque colours, it draws
/// itself. Other engines (SVG) get the area in one piece.
template <class Draw>
void drawInStrips(QPainter& painter, const QRectF& area, Draw&& draw)
{
    constexpr double kRows = 64;
    if (painter.paintEngine()->type() != QPaintEngine::Raster) {
        draw();
        return;
    }
    const double ratio = painter.device()->devicePixelRatio();
    // Strips end between rows of pixels, so that none is drawn twice.
    for (double row = std::floor(area.top() * ratio), end = std::ceil(area.bottom() * ratio); row < end; row += kRows) {
        painter.save();
        painter.setClipRect(QRectF(area.left(), row / ratio, area.width(), std::min(kRows, end - row) / ratio),
                            Qt::IntersectClip);
        draw();
        painter.restore();
    }
}

/// Fills a rectangle with a colour that lets through what lies below it.
inline void fillInStrips(QPainter& painter, const QRectF& area, const QColor& color)
{
    drawInStrips(painter, area, [&] { painter.fillRect(area, color); });
}

} // namespace app
