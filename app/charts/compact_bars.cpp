#include "app/charts/compact_bars.h"

#include "app/charts/chart.h"
#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "app/look/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

PartsBar::PartsBar(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Where the time of a steady step goes"));
    addChartExport(this, QStringLiteral("parts"), [this] {
        QString lines = csvLine({tr("Part"), tr("Share")});
        for (const Part& part : m_parts)
            lines += csvLine({part.name, QString::number(part.share, 'g', 9)});
        return lines;
    });
}

void PartsBar::setParts(std::vector<Part> parts)
{
    m_parts = std::move(parts);
    QStringList words;
    for (const Part& part : m_parts)
        words << part.name + u' ' + formatShare(part.share);
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

void PartsBar::paintEvent(QPaintEvent*)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    QPainter painter(this);
    const QFontMetricsF metrics(font());
    double sum = 0;
    for (const Part& part : m_parts) {
        const double left = std::round(sum * width());
        sum += part.share;
        const double right = std::round(sum * width());
        const QRectF rect(left, 0, right - left - (right - left > 3 ? 1 : 0), height());
        if (rect.width() < 1)
            continue;
        fillAs(painter, rect, part.which, theme.dark);
        painter.setPen(classStyle(part.which, theme.dark).text);
        const QString share = formatShare(part.share);
        const QString both = part.name + QStringLiteral("  ") + share;
        for (const QString& text : {both, share})
            if (metrics.horizontalAdvance(text) + 10 < rect.width()) {
                painter.drawText(rect.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
                break;
            }
    }
}

int PartsBar::partAt(double x) const
{
    double sum = 0;
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        sum += m_parts[i].share;
        if (x < sum * width())
            return static_cast<int>(i);
    }
    return -1;
}

void PartsBar::mouseMoveEvent(QMouseEvent* event)
{
    const int part = partAt(event->position().x());
    if (part >= 0)
        QToolTip::showText(event->globalPosition().toPoint(), m_parts[static_cast<std::size_t>(part)].tip, this);
}

void PartsBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const int part = partAt(event->position().x());
    if (part >= 0)
        emit partChosen(part);
}

DistributionBar::DistributionBar(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(tr("Distribution"));
    addChartExport(this, QStringLiteral("distribution"), [this] {
        QString lines = csvLine({tr("Bin"), tr("Count")});
        for (std::size_t i = 0; i < m_bins.size(); ++i)
            lines += csvLine({m_tips.value(static_cast<qsizetype>(i)).section(QStringLiteral(": "), 0, 0),
                              QString::number(m_bins[i])});
        return lines;
    });
}

void DistributionBar::setBins(std::vector<std::int64_t> bins, std::size_t marked, QStringList tips)
{
    m_bins = std::move(bins);
    m_marked = marked;
    m_tips = std::move(tips);
    update();
}

double DistributionBar::binWidth() const
{
    return static_cast<double>(width()) / static_cast<double>(std::max<std::size_t>(m_bins.size(), 1));
}

void DistributionBar::paintEvent(QPaintEvent*)
{
    const std::int64_t most = m_bins.empty() ? 0 : *std::max_element(m_bins.begin(), m_bins.end());
    if (most == 0)
        return;
    QPainter painter(this);
    const QColor line = palette().color(QPalette::Mid), plain = palette().color(QPalette::PlaceholderText);
    const int base = height() - 1;
    painter.fillRect(0, base, width(), 1, line);
    for (std::size_t i = 0; i < m_bins.size(); ++i) {
        if (m_bins[i] == 0)
            continue;
        const double left = std::round(static_cast<double>(i) * binWidth());
        const double right = std::round(static_cast<double>(i + 1) * binWidth()) - 1;
        // A single slice among a million remains visible.
        const double tall = std::max(2.0, static_cast<double>(m_bins[i]) / static_cast<double>(most) * (base - 6));
        painter.fillRect(QRectF(left, base - tall, std::max(1.0, right - left), tall),
                         i == m_marked ? palette().color(QPalette::Highlight) : plain);
    }
    // Besides its colour, a triangle marks the bin.
    const double middle = (static_cast<double>(m_marked) + 0.5) * binWidth();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::Highlight));
    painter.drawPolygon(QPolygonF({{middle - 4, 0}, {middle + 4, 0}, {middle, 5}}));
}

bool DistributionBar::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto bin = static_cast<qsizetype>(static_cast<double>(help->pos().x()) / binWidth());
    if (bin >= 0 && bin < m_tips.size())
        QToolTip::showText(help->globalPos(), m_tips[bin], this);
    return true;
}

} // namespace app
