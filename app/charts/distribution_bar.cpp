#include "app/charts/distribution_bar.h"

#include "app/charts/chart_export.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

namespace app {

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
