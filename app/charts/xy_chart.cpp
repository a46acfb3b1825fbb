#include "app/charts/xy_chart.h"

#include "app/charts/chart.h"
#include "app/charts/time_axis.h"
#include "app/look/display_text.h"
#include "app/look/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace app {

namespace {

constexpr double kRight = 14, kGap = 6;                ///< pixels
constexpr double kLineSpacing = 26, kTickSpacing = 70; ///< minimum pixels between ticks
constexpr double kNear = 24;                           ///< pixels: the pointer is at a point
constexpr double kDot = 3;                             ///< radius in pixels
constexpr double kSwatch = 14;                         ///< pixels: a line of the legend

bool hasInterval(const XyChart::Point& point)
{
    return point.low < point.high;
}

} // namespace

namespace tick {

QString count(double value, double)
{
    return formatCount(std::llround(value));
}

QString seconds(double value, double step)
{
    constexpr double kMostTicks = 20; // the unit depends on the step alone, so that all ticks have the same
    return value == 0 ? QStringLiteral("0") : tickLabel(value * 1e6, step * 1e6, kMostTicks * step * 1e6);
}

QString bytes(double value, double)
{
    return value == 0 ? QStringLiteral("0") : formatBytes(value);
}

QString number(double value, double step)
{
    return formatFixed(value, std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))));
}

} // namespace tick

XyChart::XyChart(const QString& stem, QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    addChartExport(this, stem, [this] { return csv(); });
}

void XyChart::show(Content content)
{
    m_content = std::move(content);
    m_xTop = m_yTop = 0;
    QStringList names;
    for (const Series& series : m_content.series) {
        if (!series.points.empty())
            names << series.name;
        for (const Point& point : series.points) {
            m_xTop = std::max(m_xTop, point.x);
            m_yTop = std::max({m_yTop, point.y, point.high});
        }
    }
    m_xTop = m_xTop > 0 ? m_xTop * 1.02 : 1;
    m_yTop = m_yTop > 0 ? m_yTop * 1.08 : 1;
    setAccessibleName(tr("%1 over %2").arg(m_content.y.title, m_content.x.title));
    setAccessibleDescription(names.isEmpty() ? m_content.empty : names.join("; "));
    update();
}

bool XyChart::isEmpty() const
{
    return std::all_of(m_content.series.begin(), m_content.series.end(),
                       [](const Series& series) { return series.points.empty(); });
}

QString XyChart::csv() const
{
    QString lines = csvLine({tr("Series"), m_content.x.title, m_content.y.title, tr("Low"), tr("High")});
    const auto exact = [](double value) { return QString::number(value, 'g', 12); };
    for (const Series& series : m_content.series)
        for (const Point& point : series.points)
            lines +=
                csvLine({series.name, exact(point.x), exact(point.y), hasInterval(point) ? exact(point.low) : QString(),
                         hasInterval(point) ? exact(point.high) : QString()});
    return lines;
}

XyChart::Ticks XyChart::ticks() const
{
    Ticks ticks;
    ticks.y = valueTicks(m_yTop, static_cast<int>(m_plot.height() / kLineSpacing));
    ticks.yStep = ticks.y.size() > 1 ? ticks.y[1] : m_yTop;
    ticks.x = valueTicks(m_xTop, static_cast<int>(m_plot.width() / kTickSpacing));
    ticks.xStep = ticks.x.size() > 1 ? ticks.x[1] : m_xTop;
    if (m_content.x.ticksAtValues) {
        ticks.x.clear();
        for (const Series& series : m_content.series)
            for (const Point& point : series.points)
                ticks.x.push_back(point.x);
        std::sort(ticks.x.begin(), ticks.x.end());
        ticks.x.erase(std::unique(ticks.x.begin(), ticks.x.end()), ticks.x.end());
        ticks.xStep = 1;
    }
    return ticks;
}

/// The plot leaves space for the widest tick on the left, the legend above, and the ticks below.
void XyChart::layOut()
{
    const double line = fontMetrics().height();
    m_plot = QRectF(0, line + kGap, width(), std::max(10.0, height() - 2 * line - 3 * kGap));
    double widest = 0;
    const Ticks all = ticks();
    for (const double y : all.y)
        widest = std::max(widest, static_cast<double>(fontMetrics().horizontalAdvance(m_content.y.text(y, all.yStep))));
    m_plot.setLeft(widest + 2 * kGap);
    m_plot.setRight(std::max(m_plot.left() + 10, width() - kRight));
}

QPointF XyChart::placeOf(double x, double y) const
{
    return {m_plot.left() + m_plot.width() * x / m_xTop, m_plot.bottom() - m_plot.height() * y / m_yTop};
}

void XyChart::paintEvent(QPaintEvent*)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    QPainter painter(this);
    painter.fillRect(rect(), theme.background);
    if (isEmpty()) {
        painter.setPen(theme.dimText);
        painter.drawText(rect().adjusted(10, 4, -10, -4), Qt::AlignCenter | Qt::TextWordWrap, m_content.empty);
        return;
    }
    layOut();
    paintAxes(painter);
    paintLegend(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(m_plot.adjusted(-kDot - 1, -kDot - 1, kDot + 1, kDot + 1));
    for (const Series& series : m_content.series)
        paintSeries(painter, series);
}

void XyChart::paintAxes(QPainter& painter) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const double line = fontMetrics().height();
    const Ticks all = ticks();
    painter.setPen(theme.dimText);
    for (const double value : all.y) {
        const double y = std::round(placeOf(0, value).y());
        painter.fillRect(QRectF(m_plot.left(), y, m_plot.width(), 1), value == 0 ? theme.border : theme.grid);
        painter.drawText(QRectF(0, y - line / 2, m_plot.left() - kGap, line), Qt::AlignRight | Qt::AlignVCenter,
                         m_content.y.text(value, all.yStep));
    }
    // The unit of the y axis is above it, that of the x axis at its end.
    painter.drawText(QRectF(kGap, 0, m_plot.width(), line), Qt::AlignLeft, m_content.y.unit);
    const QRectF below(m_plot.left(), m_plot.bottom() + kGap, width() - m_plot.left() - kGap, line);
    painter.drawText(below, Qt::AlignRight, m_content.x.unit);
    const double end =
        below.right() - (m_content.x.unit.isEmpty() ? 0 : fontMetrics().horizontalAdvance(m_content.x.unit) + kGap);
    double free = -std::numeric_limits<double>::infinity(); // left of the next label
    for (const double value : all.x) {
        const double x = std::round(placeOf(value, 0).x());
        const QString label = m_content.x.text(value, all.xStep);
        const double width = fontMetrics().horizontalAdvance(label), left = x - width / 2;
        painter.fillRect(QRectF(x, m_plot.bottom() + 1, 1, 3), theme.border);
        if (left < free || left + width > end)
            continue;
        painter.drawText(QRectF(left, below.top(), width + 1, line), Qt::AlignLeft, label);
        free = left + width + kGap;
    }
}

void XyChart::paintLegend(QPainter& painter) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const double line = fontMetrics().height();
    double x = kGap + (m_content.y.unit.isEmpty() ? 0 : fontMetrics().horizontalAdvance(m_content.y.unit) + 3 * kGap);
    for (const Series& series : m_content.series) {
        const double room = width() - kRight - x - kSwatch - kGap;
        if (series.points.empty() || room < 2 * line)
            continue;
        const QString name = fontMetrics().elidedText(series.name, Qt::ElideMiddle, static_cast<int>(room));
        const QPointF middle(x + kSwatch / 2, line / 2);
        const QColor color = classStyle(series.color, theme.dark).fill;
        painter.setPen(QPen(color, 2, series.pen));
        painter.setBrush(series.hollow ? theme.background : color);
        if (series.shape == Shape::Line)
            painter.drawLine(middle - QPointF(kSwatch / 2, 0), middle + QPointF(kSwatch / 2, 0));
        else
            painter.drawEllipse(middle, kDot, kDot);
        painter.setPen(theme.text);
        painter.drawText(QPointF(x + kSwatch + kGap, fontMetrics().ascent()), name);
        x += kSwatch + 3 * kGap + fontMetrics().horizontalAdvance(name);
    }
}

void XyChart::paintSeries(QPainter& painter, const Series& series) const
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    const QColor color = classStyle(series.color, theme.dark).fill;
    if (series.shape == Shape::Dots) {
        for (const Point& point : series.points) {
            const QPointF at = placeOf(point.x, point.y);
            painter.setPen(QPen(color, 1.5));
            if (hasInterval(point))
                painter.drawLine(placeOf(point.x, point.low), placeOf(point.x, point.high));
            painter.setBrush(series.hollow ? theme.background : color);
            painter.drawEllipse(at, kDot, kDot);
        }
        return;
    }
    QPolygonF line, band;
    for (const Point& point : series.points) {
        line << placeOf(point.x, point.y);
        band << placeOf(point.x, hasInterval(point) ? point.high : point.y);
    }
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point)
        band << placeOf(point->x, hasInterval(*point) ? point->low : point->y);
    QColor fill = color;
    fill.setAlphaF(0.22F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    if (std::any_of(series.points.begin(), series.points.end(), hasInterval))
        painter.drawPolygon(band);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, 1.6, series.pen));
    if (series.points.size() == 1)
        painter.drawEllipse(line.front(), kDot, kDot);
    else
        painter.drawPolyline(line);
}

QString XyChart::tipAt(QPointF at) const
{
    const Series* nearest = nullptr;
    const Point* found = nullptr;
    double best = kNear;
    for (const Series& series : m_content.series)
        for (const Point& point : series.points) {
            const QPointF place = placeOf(point.x, point.y) - at;
            if (const double distance = std::hypot(place.x(), place.y()); distance < best) {
                best = distance;
                nearest = &series;
                found = &point;
            }
        }
    if (!found)
        return {};
    // Two more digits than the ticks.
    const Ticks all = ticks();
    const auto exact = [&](double value) { return m_content.y.text(value, all.yStep / 100); };
    const auto withUnit = [](const QString& value, const QString& unit) {
        return unit.isEmpty() ? value : QStringLiteral("%1 %2").arg(value, unit);
    };
    QString text = tr("%1: %2 at %3")
                       .arg(nearest->name, withUnit(exact(found->y), m_content.y.unit),
                            withUnit(m_content.x.text(found->x, all.xStep / 10), m_content.x.unit));
    if (hasInterval(*found))
        text += tr(" (%1 to %2)").arg(exact(found->low), exact(found->high));
    return found->note.isEmpty() ? text : text + '\n' + found->note;
}

bool XyChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto& help = static_cast<const QHelpEvent&>(*event);
    showTip(help, tipAt(help.pos()), this);
    return true;
}

} // namespace app
