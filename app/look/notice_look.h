#pragma once

class QColor;
class QPainter;
class QString;
class QWidget;

namespace app {

/// Room at the left of a strip that tells something, for its sign.
constexpr int kNoticeSignRoom = 34;
/// Paints the ground and the sign of such a strip. @param tone  of the sign, and a little of the ground
void paintNotice(QPainter& painter, const QWidget& strip, const QString& icon, const QColor& tone);

} // namespace app
