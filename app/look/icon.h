#pragma once

#include <QIcon>
#include <QPalette>
#include <QString>

namespace app {

/// An icon of resources/icons by its stem, drawn in the palette's colour of that role (and faded when disabled), so
/// that it follows a change of theme.
[[nodiscard]] QIcon icon(const QString& stem, QPalette::ColorRole role = QPalette::ButtonText);

/// The icon as a pixmap of one colour.
[[nodiscard]] QPixmap iconPixmap(const QString& stem, const QColor& color, int size, qreal devicePixelRatio);

} // namespace app
