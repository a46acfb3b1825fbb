#include "app/look/notice_look.h"

#include "app/look/icon.h"
#include "app/look/theme.h"

#include <QPainter>
#include <QWidget>

namespace app {

void paintNotice(QPainter& painter, const QWidget& strip, const QString& icon, const QColor& tone)
{
    const int width = strip.width(), height = strip.height();
    const QPalette palette = strip.palette();
    painter.fillRect(strip.rect(), blend(palette.color(QPalette::Window), tone, 0.12));
    painter.fillRect(QRect(0, 0, 3, height), tone);
    painter.fillRect(QRect(0, height - 1, width, 1), palette.color(QPalette::Mid));
    painter.drawPixmap(11, 9, iconPixmap(icon, tone, 16, strip.devicePixelRatioF()));
}

} // namespace app
