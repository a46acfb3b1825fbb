#pragma once

#include <QColor>
#include <QPalette>

class QWidget;

namespace app {

enum class Theme { System, Light, Dark };

/// Colours beside those of QPalette. None of them means an activity: those have their own palette.
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

/// Paints a widget's text in one colour; all else stays as the theme has it, after a change of theme too.
void setTextColor(QWidget* widget, const QColor& color);

/// `over` on top of `under` with the given share of it.
[[nodiscard]] QColor blend(const QColor& under, const QColor& over, double share);

} // namespace app
