#include "app/timeline/label_cache.h"

#include <QFontMetricsF>
#include <QTextLayout>
#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

namespace {

constexpr qsizetype kMostLabels = 4096;
constexpr qsizetype kLongestText = 96;       ///< letters; kernel names may have thousands
constexpr std::ptrdiff_t kFewestLetters = 3; ///< minimum letters before "…"
const QString kEllipsis = QStringLiteral("…");

} // namespace

void LabelCache::setFont(const QFont& font, double devicePixelRatio)
{
    if (font == m_font && devicePixelRatio == m_ratio && m_height > 0)
        return;
    m_font = font;
    m_ratio = devicePixelRatio;
    const QFontMetricsF metrics(font);
    m_height = static_cast<int>(std::ceil(metrics.height()));
    m_ellipsisWidth = metrics.horizontalAdvance(kEllipsis);
    m_labels.clear();
    m_older.clear();
}

double LabelCache::drawVector(QPainter& painter, QPointF at, double width, const QString& text,
                              const QColor& color) const
{
    const QFontMetricsF metrics(m_font);
    const QString shown = metrics.elidedText(text.left(kLongestText), Qt::ElideRight, width);
    if (shown != text && shown.size() <= kFewestLetters)
        return 0;
    painter.setFont(m_font);
    painter.setPen(color);
    painter.drawText(at + QPointF(0, metrics.ascent()), shown);
    return metrics.horizontalAdvance(shown);
}

double LabelCache::draw(QPainter& painter, double x, double top, double width, const QString& text, const QColor& color)
{
    if (m_vector)
        return drawVector(painter, {x, top}, width, text, color);
    const Label& whole = label(text, color);
    if (whole.ends.empty())
        return 0;
    if (whole.ends.back() <= width) {
        painter.drawImage(QPointF(x, top), whole.image);
        return whole.ends.back();
    }
    const auto fits = std::upper_bound(whole.ends.begin(), whole.ends.end(), width - m_ellipsisWidth);
    if (fits - whole.ends.begin() < kFewestLetters)
        return 0;
    const double cut = std::ceil(*(fits - 1)); // copying is fastest at whole pixels
    painter.drawImage(QRectF(x, top, cut, m_height), whole.image, QRectF(0, 0, cut * m_ratio, m_height * m_ratio));
    const Label& dots = label(kEllipsis, color);
    painter.drawImage(QPointF(x + cut, top), dots.image);
    return cut + m_ellipsisWidth;
}

double LabelCache::width(const QString& text, const QColor& color)
{
    const Label& whole = label(text, color);
    return whole.ends.empty() ? 0 : whole.ends.back();
}

const LabelCache::Label& LabelCache::label(const QString& text, const QColor& color)
{
    const auto key = std::pair{text, color.rgb()};
    if (const auto known = m_labels.constFind(key); known != m_labels.constEnd())
        return known.value();
    if (m_labels.size() >= kMostLabels / 2) // labels in use are kept, because drawing all of them again takes longer
                                            // than a frame
        m_older = std::exchange(m_labels, {});
    const auto older = m_older.constFind(key);
    return m_labels.insert(key, older != m_older.constEnd() ? older.value() : render(text, color)).value();
}

LabelCache::Label LabelCache::render(const QString& text, const QColor& color) const
{
    Label label;
    QTextLayout layout(text.left(kLongestText), m_font);
    layout.beginLayout();
    QTextLine line = layout.createLine();
    layout.endLayout();
    if (!line.isValid())
        return label;
    for (qsizetype i = 1; i <= layout.text().size(); ++i)
        label.ends.push_back(static_cast<float>(line.cursorToX(static_cast<int>(i))));
    const double width = std::ceil(line.naturalTextWidth()) + 1;
    label.image = QImage(static_cast<int>(std::ceil(width * m_ratio)), static_cast<int>(std::ceil(m_height * m_ratio)),
                         QImage::Format_ARGB32_Premultiplied);
    label.image.setDevicePixelRatio(m_ratio);
    label.image.fill(Qt::transparent);
    QPainter painter(&label.image);
    painter.setPen(color);
    layout.draw(&painter, QPointF(0, 0));
    return label;
}

} // namespace app
