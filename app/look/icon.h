#pragma once

#include <QIcon>
#include <QPalette>
#include <QString>

namespace app {

/// The icon resources/icons/<stem>, drawn in the palette's colour of that role (and faded when disabled), so that it
/// follows theme changes.
[[nodiscard]] QIcon icon(const QString& stem, QPalette::ColorRole role = QPalette::ButtonText);

/// The icon as a pixmap of one colour.
[[nodiscard]] QPixmap iconPixmap(const QString& stem, const QColor& color, int size, qreal devicePixelRatio);

} // namespace app
