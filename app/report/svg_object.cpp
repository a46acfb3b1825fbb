#include "app/report/svg_object.h"

#include <QPainter>
#include <QSvgRenderer>

namespace app {

QSizeF SvgObject::intrinsicSize(QTextDocument*, int, const QTextFormat& format)
{
    const QSvgRenderer renderer(format.property(kSvg).toByteArray());
    const QSizeF drawn = renderer.viewBoxF().size();
    const double width = format.doubleProperty(kWidth);
    return drawn.width() > 0 ? QSizeF(width, width * drawn.height() / drawn.width()) : QSizeF();
}

void SvgObject::drawObject(QPainter* painter, const QRectF& place, QTextDocument*, int, const QTextFormat& format)
{
    QSvgRenderer renderer(format.property(kSvg).toByteArray());
    painter->save();
    renderer.render(painter, place);
    painter->restore();
}

} // namespace app
