#pragma once

#include <QColor>
#include <QPalette>

class QWidget;

namespace app {

enum class Theme { System, Light, Dark };

/// Colours in addition to QPalette. None of them stands for an activity; activities have their own palette.
struct Shades {
    QColor line;  ///< borders and separators
    QColor muted; ///< secondary text
    QColor panel; ///< cards and group headings
    QColor good;  ///< pays, finished
    QColor bad;   ///< costs, failed, refused
    QColor warning;
};

[[nodiscard]] QPalette themePalette(bool dark);
[[nodiscard]] bool isDark(const QPalette& palette);
[[nodiscard]] Shades shades(const QPalette& palette);

/// Sets the text colour of a widget. All other colours follow the theme, also after a theme change.
void setTextColor(QWidget* widget, const QColor& color);

/// `over` blended onto `under` with the given opacity.
[[nodiscard]] QColor blend(const QColor& under, const QColor& over, double share);

} // namespace app
