#include "app/views/compare/distribution_chart.h"

#include "app/charts/chart.h"
#include "app/charts/time_axis.h"
#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "app/look/theme.h"
#include "profiler/analysis/statistics.h"

#include <QHelpEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::analysis::percentile;

namespace {

constexpr double kMargin = 10;
constexpr double kBinWidth = 5;     ///< pixels
constexpr double kTickSpacing = 80; ///< pixels
// The axis is cut at a high percentile, because one step that takes ten times as long would squeeze all others.
constexpr double kFarthest = 0.98;

} // namespace

std::vector<int> histogram(const std::vector<double>& us, double least, double most, int bins)
{
    std::vector<int> counts(static_cast<std::size_t>(std::max(1, bins)));
    const double width = (most - least) / static_cast<double>(counts.size());
    for (const double value : us) {
        const double bin = width > 0 ? std::floor((value - least) / width) : 0;
        ++counts[static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(counts.size() - 1)))];
    }
    return counts;
}

DistributionChart::DistributionChart(QWidget* parent) : QWidget(parent)
{
    setAccessibleName(tr("Step times of both runs"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    addChartExport(this, QStringLiteral("step-time-distribution"), [this] { return csv(); });
}

QString DistributionChart::csv() const
{
    QString lines = csvLine({tr("Run"), tr("Step time (ns)")});
    for (const Row& row : m_rows)
        for (const double us : row.sample.us)
            lines += csvLine({row.sample.name, QString::number(std::llround(us * 1000))});
    return lines;
}

QRectF DistributionChart::plot() const
{
    return {kMargin, 4, width() - 2 * kMargin, height() - fontMetrics().height() - 12.0};
}

/// The area of the bars of a row, below its name.
QRectF DistributionChart::barsOf(std::size_t row) const
{
    const QRectF all = plot();
    const QRectF area(all.left(), all.top() + all.height() / 2 * static_cast<double>(row), all.width(),
                      all.height() / 2 - 2);
    return area.adjusted(0, fontMetrics().height() + 2, 0, 0);
}

/// "12.1 ms to 12.3 ms: 5 steps of baseline"; empty outside of the bars.
QString DistributionChart::tipAt(QPointF at) const
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const QRectF bars = barsOf(i);
        const auto bins = std::max(1, static_cast<int>(bars.width() / kBinWidth));
        if (!bars.contains(at) || m_rows[i].sample.us.empty())
            continue;
        const auto counts = histogram(m_rows[i].sample.us, m_leastUs, m_mostUs, bins);
        const int bin = std::clamp(static_cast<int>((at.x() - bars.left()) / bars.width() * bins), 0, bins - 1);
        const double width = (m_mostUs - m_leastUs) / bins;
        return tr("%1 to %2: %3 of %4")
            .arg(formatUs(m_leastUs + bin * width), formatUs(m_leastUs + (bin + 1) * width),
                 formatCounted(counts[static_cast<std::size_t>(bin)], tr("step"), tr("steps")), m_rows[i].sample.name);
    }
    return {};
}

bool DistributionChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto& help = static_cast<const QHelpEvent&>(*event);
    showTip(help, tipAt(help.pos()), this);
    return true;
}

void DistributionChart::show(Sample upper, Sample lower)
{
    m_rows[0].sample = std::move(upper);
    m_rows[1].sample = std::move(lower);
    QStringList said;
    m_leastUs = m_mostUs = 0;
    for (Row& row : m_rows) {
        if (row.sample.us.empty())
            continue;
        row.medianUs = percentile(row.sample.us, 0.5);
        const double least = percentile(row.sample.us, 1 - kFarthest), most = percentile(row.sample.us, kFarthest);
        m_leastUs = m_mostUs == 0 ? least : std::min(m_leastUs, least);
        m_mostUs = std::max(m_mostUs, most);
        said << tr("%1: median %2").arg(row.sample.name, formatUs(row.medianUs));
    }
    const double room = std::max((m_mostUs - m_leastUs) * 0.08, m_mostUs * 0.02);
    m_leastUs = std::max(0.0, m_leastUs - room);
    m_mostUs += room;
    setAccessibleDescription(said.join("; "));
    update();
}

double DistributionChart::xOf(double us, const QRectF& area) const
{
    return area.left() + area.width() * (us - m_leastUs) / std::max(1e-9, m_mostUs - m_leastUs);
}

void DistributionChart::paintEvent(QPaintEvent*)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    QPainter painter(this);
    painter.fillRect(rect(), theme.background);
    const QColor colors[] = {classStyle(SliceClass::Other, theme.dark).fill,
                             classStyle(SliceClass::CopyToDevice, theme.dark).fill};
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        paintRow(painter, m_rows[i], barsOf(i), colors[i]);
    paintAxis(painter, plot());
}

/// @param bars  the area of its bars; its name is above
void DistributionChart::paintRow(QPainter& painter, const Row& row, const QRectF& bars, const QColor& color) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const double line = fontMetrics().height();
    const QRectF area = bars.adjusted(0, -line - 2, 0, 0);
    painter.fillRect(QRectF(bars.left(), bars.bottom(), bars.width(), 1), theme.border);
    const auto counts = histogram(row.sample.us, m_leastUs, m_mostUs, static_cast<int>(bars.width() / kBinWidth));
    const int most = std::max(1, *std::max_element(counts.begin(), counts.end()));
    const double width = bars.width() / static_cast<double>(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0) {
            const double height = std::max(2.0, bars.height() * counts[i] / most);
            painter.fillRect(QRectF(bars.left() + width * static_cast<double>(i), bars.bottom() - height,
                                    std::max(1.0, width - 1), height),
                             color);
        }
    const QString median = row.sample.us.empty() ? tr("no steps") : tr("median %1").arg(formatUs(row.medianUs));
    const double medianWidth = fontMetrics().horizontalAdvance(median) + 8;
    painter.setPen(theme.text);
    painter.drawText(
        QRectF(area.left(), area.top(), area.width() - medianWidth, line), Qt::AlignLeft | Qt::AlignVCenter,
        fontMetrics().elidedText(row.sample.name, Qt::ElideMiddle, static_cast<int>(area.width() - medianWidth)));
    painter.drawText(QRectF(area.left(), area.top(), area.width(), line), Qt::AlignRight | Qt::AlignVCenter, median);
    if (row.sample.us.empty())
        return;
    const double x = std::round(xOf(row.medianUs, bars)) + 0.5;
    painter.setPen(QPen(theme.text, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, bars.top()), QPointF(x, bars.bottom()));
}

void DistributionChart::paintAxis(QPainter& painter, const QRectF& area) const
{
    if (m_mostUs <= 0)
        return;
    const TimelineTheme theme = TimelineTheme::from(palette());
    painter.setPen(theme.dimText);
    const QRectF labels(area.left(), area.bottom() + 4, area.width(), fontMetrics().height());
    const double perPixel = (m_mostUs - m_leastUs) * 1000 / std::max(1.0, area.width()); // ns
    const auto stepNs = static_cast<double>(niceStep(std::max(1.0, kTickSpacing * perPixel)));
    const QString unitOfAxis = tr("step time");
    const double reserved = fontMetrics().horizontalAdvance(unitOfAxis) + 8.0;
    for (double ns = std::ceil(m_leastUs * 1000 / stepNs) * stepNs; ns <= m_mostUs * 1000; ns += stepNs) {
        const double x = std::round(xOf(ns / 1000, area));
        painter.fillRect(QRectF(x, area.bottom() + 1, 1, 3), theme.border);
        const QString label = tickLabel(ns / 1000, stepNs / 1000, m_mostUs);
        const double width = fontMetrics().horizontalAdvance(label);
        if (x + width / 2 <= area.right() - reserved && x - width / 2 >= area.left())
            painter.drawText(QRectF(x - width / 2, labels.top(), width + 1, labels.height()), Qt::AlignLeft, label);
    }
    painter.drawText(labels, Qt::AlignRight, unitOfAxis);
}

} // namespace app
