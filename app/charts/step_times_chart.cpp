#include "app/charts/step_times_chart.h"

#include "app/charts/chart_export.h"
#include "app/look/kind_palette.h"
#include "app/look/number_format.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace app {

using profiler::analysis::Step;

namespace {
constexpr int kAxisWidth = 62;
constexpr int kRight = 12;
constexpr double kRoomyStep = 5; ///< pixels per step from which on each step has a dot
constexpr double kOutlier = 1.5;
} // namespace

StepTimesChart::StepTimesChart(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setAccessibleName(tr("Step times over the run"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addChartExport(this, QStringLiteral("step-times"), [this] { return csv(); });
}

QString StepTimesChart::csv() const
{
    QString lines = csvLine({tr("Step"), tr("Start (ns)"), tr("Duration (ns)"), tr("Steady")});
    for (const Step& step : m_steps)
        lines += csvLine({QString::number(step.index), QString::number(toNs(step.range.begin)),
                          QString::number(step.range.duration().count()),
                          isSteady(step) ? QStringLiteral("1") : QStringLiteral("0")});
    return lines;
}

void StepTimesChart::setSteps(std::vector<Step> steps, double medianUs)
{
    m_steps = std::move(steps);
    m_medianUs = medianUs;
    setAccessibleDescription(tr("%1, median %2")
                                 .arg(formatCounted(static_cast<std::int64_t>(m_steps.size()), tr("step"), tr("steps")),
                                      formatUs(medianUs)));
    layOut();
    update();
}

double StepTimesChart::usOf(int step) const
{
    return static_cast<double>(m_steps[static_cast<std::size_t>(step)].range.duration().count()) / 1000;
}

void StepTimesChart::resizeEvent(QResizeEvent*)
{
    layOut();
}

void StepTimesChart::layOut()
{
    const int line = fontMetrics().height();
    m_frame.plot =
        QRectF(kAxisWidth, 8, std::max(10, width() - kAxisWidth - kRight), std::max(10, height() - line - 18));
    m_frame.steps = static_cast<int>(m_steps.size());
    double steady = 0, all = 0;
    for (int i = 0; i < m_frame.steps; ++i) {
        all = std::max(all, usOf(i));
        if (isSteady(m_steps[static_cast<std::size_t>(i)]))
            steady = std::max(steady, usOf(i));
    }
    m_frame.topUs = chartTop(steady > 0 && all > steady * kOutlier ? steady * 1.1 : all);
}

void StepTimesChart::paintEvent(QPaintEvent*)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    QPainter painter(this);
    painter.fillRect(rect(), theme.background);
    if (m_steps.empty())
        return;
    m_frame.paint(painter, theme, m_steps);
    painter.setRenderHint(QPainter::Antialiasing, true);
    const QColor color = classStyle(SliceClass::CopyToDevice, theme.dark).fill;
    const double slot = m_frame.plot.width() / m_frame.steps;
    const bool dots = slot >= kRoomyStep;
    QPolygonF line;
    for (int i = 0; i < m_frame.steps;) {
        const double x = m_frame.xOf(i + 0.5);
        double low = usOf(i), high = low;
        int next = i + 1;
        for (; next < m_frame.steps && m_frame.xOf(next + 0.5) < x + 1; ++next) {
            low = std::min(low, usOf(next));
            high = std::max(high, usOf(next));
        }
        const auto y = [&](double us) { return std::max(m_frame.plot.top(), m_frame.yOf(us)); };
        line << QPointF(x, y(low));
        if (high > low)
            line << QPointF(x, y(high));
        i = next;
    }
    painter.setPen(QPen(color, 1.5));
    painter.drawPolyline(line);
    for (int i = 0; dots && i < m_frame.steps; ++i) {
        const QPointF at(m_frame.xOf(i + 0.5), std::max(m_frame.plot.top(), m_frame.yOf(usOf(i))));
        painter.setBrush(isSteady(m_steps[static_cast<std::size_t>(i)]) ? color : theme.background);
        painter.drawEllipse(at, 2.4, 2.4);
    }
    if (m_medianUs <= 0)
        return;
    const double y = std::round(m_frame.yOf(m_medianUs)) + 0.5;
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(QPen(theme.text, 1, Qt::DashLine));
    painter.drawLine(QPointF(m_frame.plot.left(), y), QPointF(m_frame.plot.right(), y));
    const QString label = tr("median %1").arg(formatUs(m_medianUs));
    const QFontMetricsF metrics(font());
    const QRectF box(m_frame.plot.right() - metrics.horizontalAdvance(label) - 8, y + 3,
                     metrics.horizontalAdvance(label) + 8, metrics.height());
    QColor ground = theme.background;
    ground.setAlpha(210);
    painter.fillRect(box, ground);
    painter.setPen(theme.text);
    painter.drawText(box, Qt::AlignCenter, label);
}

void StepTimesChart::mouseMoveEvent(QMouseEvent* event)
{
    const int step = m_frame.plot.contains(event->position()) ? m_frame.stepAt(event->position().x()) : -1;
    if (step < 0)
        QToolTip::hideText();
    else
        QToolTip::showText(
            event->globalPosition().toPoint(),
            tr("Step %1: %2").arg(formatCount(m_steps[static_cast<std::size_t>(step)].index), formatUs(usOf(step))),
            this);
}

void StepTimesChart::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const int step = m_frame.plot.contains(event->position()) ? m_frame.stepAt(event->position().x()) : -1;
    if (step >= 0)
        emit stepChosen(step);
}

} // namespace app
