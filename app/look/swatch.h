#pragma once

#include "app/look/kind_palette.h"

#include <QPainter>
#include <QPixmap>

namespace app {

/// A small square in the colour and pattern of a class, for legends and tables.
QPixmap swatch(SliceClass which, bool dark, double devicePixelRatio = 2);

/// Fills a rectangle like a slice of that class, including the hatch.
void fillAs(QPainter& painter, const QRectF& rect, SliceClass which, bool dark);

} // namespace app
