#include "app/widgets/chart_frame.h"

#include "app/widgets/number_format.h"
#include "app/widgets/time_axis.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace app {

namespace {

constexpr double kLineSpacing = 26;   ///< pixels between two horizontal lines, at least
constexpr double kNumberSpacing = 70; ///< … between two steps' numbers

/// Ticks of one axis share a unit and its decimals.
QString tickLabel(double us, double stepUs, double topUs)
{
    const double unit = topUs >= 2e6 ? 1e6 : topUs >= 2e3 ? 1e3 : 1;
    const char* name = unit == 1e6 ? "s" : unit == 1e3 ? "ms" : "µs";
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(stepUs / unit) + 1e-9)));
    return formatFixed(us / unit, decimals) + u' ' + QString::fromUtf8(name);
}

} // namespace

int ChartFrame::stepAt(double x) const
{
    if (steps == 0)
        return -1;
    return std::clamp(static_cast<int>(std::floor((x - plot.left()) / plot.width() * steps)), 0, steps - 1);
}

void ChartFrame::paint(QPainter& painter, const TimelineTheme& theme) const
{
    const QFontMetricsF metrics(painter.font());
    const auto lines = valueTicks(topUs, std::max(1, static_cast<int>(plot.height() / kLineSpacing)));
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
    const std::int64_t every = niceStep(kNumberSpacing * steps / std::max(1.0, plot.width()));
    for (std::int64_t number = (firstIndex + every - 1) / every * every; number < firstIndex + steps; number += every) {
        const double x = xOf(static_cast<double>(number - firstIndex) + 0.5);
        const QString text = formatCount(number);
        const double width = metrics.horizontalAdvance(text);
        const double left = std::clamp(x - width / 2, plot.left(), std::max(plot.left(), plot.right() - width));
        painter.fillRect(QRectF(std::round(x), plot.bottom() + 1, 1, 3), theme.border);
        painter.drawText(QPointF(left, plot.bottom() + 4 + metrics.ascent()), text);
    }
}

double chartTop(double us)
{
    return us > 0 ? us * 1.08 : 1;
}

} // namespace app
