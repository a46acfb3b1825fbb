#include "app/charts/chart_frame.h"

#include "app/charts/time_axis.h"
#include "app/look/number_format.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace app {

namespace {

constexpr double kLineSpacing = 26;   ///< minimum pixels between two horizontal lines
constexpr double kNumberSpacing = 70; ///< minimum pixels between two step numbers

} // namespace

QString tickLabel(double us, double stepUs, double topUs)
{
    const double unit = topUs >= 2e6 ? 1e6 : topUs >= 2e3 ? 1e3 : 1;
    const char* name = unit == 1e6 ? "s" : unit == 1e3 ? "ms" : "µs";
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(stepUs / unit) + 1e-9)));
    return formatFixed(us / unit, decimals) + u' ' + QString::fromUtf8(name);
}

int ChartFrame::stepAt(double x) const
{
    if (steps == 0)
        return -1;
    return std::clamp(static_cast<int>(std::floor((x - plot.left()) / plot.width() * steps)), 0, steps - 1);
}

std::vector<int> ChartFrame::numbered(std::span<const profiler::analysis::Step> shown) const
{
    const std::int64_t every = niceStep(kNumberSpacing * steps / std::max(1.0, plot.width()));
    const auto roundBefore = [every](std::int64_t number) {
        return (number - (number % every + every) % every) / every;
    };
    std::vector<int> found;
    for (int i = 0; i < static_cast<int>(shown.size()); ++i) {
        const std::int64_t number = shown[static_cast<std::size_t>(i)].index;
        const bool passes = i == 0 ? number % every == 0
                                   : roundBefore(shown[static_cast<std::size_t>(i) - 1].index) < roundBefore(number);
        if (passes && (found.empty() || xOf(i) - xOf(found.back()) >= kNumberSpacing - 1))
            found.push_back(i);
    }
    return found;
}

void ChartFrame::paint(QPainter& painter, const TimelineTheme& theme,
                       std::span<const profiler::analysis::Step> shown) const
{
    const QFontMetricsF metrics(painter.font());
    const auto lines = valueTicks(topUs, std::max(2, static_cast<int>(plot.height() / kLineSpacing)));
    const double stepUs = lines.size() > 1 ? lines[1] : topUs;
    for (const double us : lines) {
        const double y = std::round(yOf(us));
        painter.fillRect(QRectF(plot.left(), y, plot.width(), 1), us == 0 ? theme.border : theme.grid);
        painter.setPen(theme.dimText);
        painter.drawText(QRectF(0, y - metrics.height() / 2, plot.left() - 8, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, tickLabel(us, stepUs, topUs));
    }
    if (steps == 0)
        return;
    for (const int step : numbered(shown)) {
        const double x = xOf(step + 0.5);
        const QString text = formatCount(shown[static_cast<std::size_t>(step)].index);
        const double width = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - width / 2, plot.left(), std::max(plot.left(), plot.right() - width));
        painter.fillRect(QRectF(std::round(x), plot.bottom() + 1, 1, 3), theme.border);
        painter.drawText(QPointF(left, plot.bottom() + 4 + metrics.ascent()), text);
    }
}

void showTip(const QHelpEvent& event, const QString& tip, QWidget* chart)
{
    if (tip.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(event.globalPos(), Qt::convertFromPlainText(tip, Qt::WhiteSpaceNormal), chart);
}

double chartTop(double us)
{
    return us > 0 ? us * 1.08 : 1;
}

} // namespace app
