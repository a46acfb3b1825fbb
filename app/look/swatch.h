#pragma once

#include "app/look/kind_palette.h"

#include <QPainter>
#include <QPixmap>

namespace app {

/// A small square in a class' colour and pattern: the key of legends and tables.
QPixmap swatch(SliceClass which, bool dark, double devicePixelRatio = 2);

/// Fills a rectangle as slices of that class are filled, hatch included.
void fillAs(QPainter& painter, const QRectF& rect, SliceClass which, bool dark);

} // namespace app
