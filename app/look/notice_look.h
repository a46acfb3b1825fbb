#pragma once

class QColor;
class QPainter;
class QString;
class QWidget;

namespace app {

/// Space for the icon at the left of a notice strip.
constexpr int kNoticeSignRoom = 34;
/// Paints the background and the icon of a notice strip.
/// @param tone  colour of the icon, also used to tint the background
void paintNotice(QPainter& painter, const QWidget& strip, const QString& icon, const QColor& tone);

} // namespace app
