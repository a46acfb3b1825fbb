#pragma once

#include <QColor>
#include <QFont>
#include <QHash>
#include <QImage>
#include <QPainter>
#include <QString>
#include <vector>

namespace app {

/// Caches rendered texts, because drawing hundreds of labels per frame costs more than everything else together. One
/// font at one device pixel ratio; GUI thread.
class LabelCache {
public:
    void setFont(const QFont& font, double devicePixelRatio);
    /// Draws texts as text instead of cached images, for vector output.
    void setVector(bool vector) { m_vector = vector; }

    /// Draws `text`, shortened with "…" if it is wider than `width`; draws nothing if fewer than three letters fit.
    /// @param x, baseTop  top left corner in logical pixels
    /// @return width drawn, in logical pixels
    double draw(QPainter& painter, double x, double top, double width, const QString& text, const QColor& color);
    /// Width of the whole text, in logical pixels.
    double width(const QString& text, const QColor& color);
    /// Height of a text, in logical pixels.
    [[nodiscard]] int height() const { return m_height; }
    [[nodiscard]] qsizetype size() const { return m_labels.size() + m_older.size(); }

private:
    struct Label {
        QImage image;
        std::vector<float> ends; ///< logical x after each letter
    };
    double drawVector(QPainter& painter, QPointF at, double width, const QString& text, const QColor& color) const;
    const Label& label(const QString& text, const QColor& color);
    Label render(const QString& text, const QColor& color) const;

    QFont m_font;
    double m_ratio = 1;
    bool m_vector = false;
    int m_height = 0;
    double m_ellipsisWidth = 0;
    QHash<std::pair<QString, QRgb>, Label> m_labels;
    QHash<std::pair<QString, QRgb>, Label> m_older; ///< the previous generation, from which reused labels are taken
};

} // namespace app
