#include "app/look/icon.h"

#include <QApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

namespace app {

namespace {

class TintedIcon : public QIconEngine {
public:
    TintedIcon(QString stem, QPalette::ColorRole role) : m_stem(std::move(stem)), m_role(role) {}

    [[nodiscard]] QIconEngine* clone() const override { return new TintedIcon(m_stem, m_role); }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        const int size = std::min(rect.width(), rect.height());
        const QPixmap image = iconPixmap(m_stem, color(mode), size, painter->device()->devicePixelRatio());
        painter->drawPixmap(rect.x() + (rect.width() - size) / 2, rect.y() + (rect.height() - size) / 2, image);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override
    {
        return iconPixmap(m_stem, color(mode), std::min(size.width(), size.height()), 1);
    }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal scale) override
    {
        // The size is in device pixels.
        QPixmap image = iconPixmap(m_stem, color(mode), std::min(size.width(), size.height()), 1);
        image.setDevicePixelRatio(scale);
        return image;
    }

private:
    [[nodiscard]] QColor color(QIcon::Mode mode) const
    {
        const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
        // A disabled button has no accent-coloured background, so its icon does not use the accent's text colour.
        const auto role = mode == QIcon::Selected   ? QPalette::HighlightedText
                          : mode == QIcon::Disabled ? QPalette::ButtonText
                                                    : m_role;
        return QApplication::palette().color(group, role);
    }

    QString m_stem;
    QPalette::ColorRole m_role;
};

} // namespace

QPixmap iconPixmap(const QString& stem, const QColor& color, int size, qreal devicePixelRatio)
{
    const int pixels = qRound(size * devicePixelRatio);
    const QString key = QString("icon/%1/%2/%3").arg(stem).arg(color.rgba()).arg(pixels);
    QPixmap image;
    if (!QPixmapCache::find(key, &image)) {
        image = QPixmap(pixels, pixels);
        image.fill(Qt::transparent);
        QSvgRenderer renderer(QString(":/icons/%1.svg").arg(stem));
        QPainter painter(&image);
        renderer.render(&painter);
        painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
        painter.fillRect(image.rect(), color);
        painter.end();
        QPixmapCache::insert(key, image);
    }
    image.setDevicePixelRatio(devicePixelRatio);
    return image;
}

QIcon icon(const QString& stem, QPalette::ColorRole role)
{
    return QIcon(new TintedIcon(stem, role));
}

} // namespace app
