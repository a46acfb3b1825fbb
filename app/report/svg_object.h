#pragma once

#include <QObject>
#include <QTextObjectInterface>

namespace app {

/// Draws SVG elements in a text document, as vectors if the paint device supports it.
class SvgObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    static constexpr int kType = QTextFormat::UserObject + 1;
    static constexpr int kSvg = QTextFormat::UserProperty + 1;   ///< QByteArray: the element
    static constexpr int kWidth = QTextFormat::UserProperty + 2; ///< double: of the drawing, in the document's units

    explicit SvgObject(QObject* parent) : QObject(parent) {}

    QSizeF intrinsicSize(QTextDocument* document, int position, const QTextFormat& format) override;
    void drawObject(QPainter* painter, const QRectF& place, QTextDocument* document, int position,
                    const QTextFormat& format) override;
};

} // namespace app
