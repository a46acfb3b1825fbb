#include "app/charts/step_charts.h"

#include "app/charts/chart.h"
#include "app/look/display_text.h"
#include "app/look/kind_palette.h"
#include "profiler/analysis/steps/slow_step.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
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
constexpr double kNarrowestBar = 2;
constexpr double kWidestBar = 26;
constexpr double kBarOutlier = 1.25; ///< a bar this much higher than every steady one is cut
constexpr double kRoomyStep = 5;     ///< pixels per step from which on each step has a dot
constexpr double kTimeOutlier = 1.5; ///< a step time this much higher than every steady one is cut

double usOf(profiler::Nanoseconds time)
{
    return static_cast<double>(time.count()) / 1000;
}

} // namespace

StepBars::StepBars(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Steps"));
    addChartExport(this, QStringLiteral("steps"), [this] { return csv(); });
    setContextMenuPolicy(Qt::DefaultContextMenu); // these actions are a part of its own menu
}

QString StepBars::csv() const
{
    QStringList heading{tr("Step"), tr("Duration (ns)")};
    for (const StepPart& part : kStepParts)
        heading << stepPartName(part) + QStringLiteral(" (ns)");
    QString lines = csvLine(heading);
    for (const Step& step : m_steps) {
        QStringList cells{QString::number(step.index), QString::number(step.range.duration().count())};
        for (const StepPart& part : kStepParts)
            cells << QString::number((step.parts.*part.time).count());
        lines += csvLine(cells);
    }
    return lines;
}

void StepBars::setSteps(std::vector<Step> steps)
{
    m_steps = std::move(steps);
    const int count = static_cast<int>(m_steps.size());
    if (m_chosen && *m_chosen >= count)
        m_chosen.reset();
    if (m_hovered && *m_hovered >= count)
        m_hovered.reset();
    m_slow.assign(m_steps.size(), false);
    for (const std::size_t slow : profiler::analysis::slowSteps(m_steps))
        m_slow[slow] = true;
    const auto s = profiler::analysis::stepStatistics(m_steps);
    m_statistics = s.count == 1 ? tr("1 step of %1").arg(formatUs(s.meanUs))
                                : tr("%1 · mean %2 · median %3 · %4 to %5")
                                      .arg(formatCounted(s.count, tr("step"), tr("steps")), formatUs(s.meanUs),
                                           formatUs(s.medianUs), formatUs(s.minUs), formatUs(s.maxUs));
    layOut();
    update();
}

void StepBars::setChosen(std::optional<int> step)
{
    if (step && *step >= static_cast<int>(m_steps.size()))
        step.reset();
    m_chosen = step;
    setAccessibleDescription(step ? describe(*step).replace('\n', QStringLiteral(", ")) : QString());
    update();
}

void StepBars::resizeEvent(QResizeEvent*)
{
    layOut();
}

void StepBars::layOut()
{
    const int line = fontMetrics().height();
    const QRectF plot(kAxisWidth, line + 12, std::max(10, width() - kAxisWidth - kRight),
                      std::max(10, height() - 2 * line - 22));
    const int count = static_cast<int>(m_steps.size());
    m_frame = {plot, 1, count};
    m_perBar = std::max(1, static_cast<int>(std::ceil(count * kNarrowestBar / plot.width())));
    // With few steps, the bars stay narrow: the plot is laid out as if there were more.
    m_frame.plot.setWidth(std::min(plot.width(), std::max(1, count) * kWidestBar));
    m_bars.assign(static_cast<std::size_t>((count + m_perBar - 1) / m_perBar), {});
    double steady = 0, all = 0;
    for (std::size_t bar = 0; bar < m_bars.size(); ++bar) {
        const int first = static_cast<int>(bar) * m_perBar, last = std::min(count, first + m_perBar);
        bool anySteady = false;
        for (int i = first; i < last; ++i) {
            const Step& step = m_steps[static_cast<std::size_t>(i)];
            anySteady = anySteady || isSteady(step);
            m_bars[bar].isSlow = m_bars[bar].isSlow || m_slow[static_cast<std::size_t>(i)];
            for (std::size_t part = 0; part < kStepParts.size(); ++part)
                m_bars[bar].us[part] += usOf(step.parts.*kStepParts[part].time) / (last - first);
        }
        for (const double us : m_bars[bar].us)
            m_bars[bar].total += us;
        all = std::max(all, m_bars[bar].total);
        if (anySteady)
            steady = std::max(steady, m_bars[bar].total);
    }
    m_frame.topUs = chartTop(steady > 0 && all > steady * kBarOutlier ? steady : all);
}

QString StepBars::describe(int index) const
{
    const Step& step = m_steps[static_cast<std::size_t>(index)];
    QString text = (step.found ? tr("Inferred step %1: %2") : tr("Step %1: %2"))
                       .arg(formatCount(step.index), formatDuration(step.range.duration()));
    if (step.warmup)
        text += tr(" (warm-up)");
    if (step.partial)
        text += tr(" (incomplete)");
    if (m_slow[static_cast<std::size_t>(index)])
        text += tr(" (stands out: right-click to see why)");
    for (const StepPart& part : kStepParts)
        if (const auto time = step.parts.*part.time; time.count() > 0)
            text += u'\n' + stepPartName(part) + QStringLiteral(": ") + formatDuration(time);
    return text;
}

void StepBars::paintEvent(QPaintEvent*)
{
    const TimelineTheme theme = TimelineTheme::from(palette());
    QPainter painter(this);
    painter.fillRect(rect(), theme.background);
    if (m_steps.empty()) {
        painter.setPen(theme.dimText);
        painter.drawText(rect().adjusted(16, 0, -16, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("Each training step appears here as a bar that shows its phases and waits."));
        return;
    }
    m_frame.paint(painter, theme, m_steps);
    paintBars(painter, theme);
    paintLegend(painter, theme);
    if (hasFocus()) {
        painter.setPen(theme.accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void StepBars::paintBars(QPainter& painter, const TimelineTheme& theme) const
{
    const double slot = m_frame.plot.width() / std::max<std::size_t>(1, m_bars.size());
    const double gap = slot >= 4 ? 1 : 0;
    double labelled = 0; // right end of the last cut bar's label, which the next one must not overlap
    std::vector<std::pair<QRectF, QString>> labels; // in front of the bars at their right
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        const double left = std::round(m_frame.xOf(static_cast<double>(i) * m_perBar));
        const double right =
            std::max(left + 1, std::round(m_frame.xOf(std::min(static_cast<double>(m_frame.steps),
                                                               static_cast<double>(i + 1) * m_perBar))) -
                                   gap);
        double bottom = m_frame.plot.bottom(), sum = 0;
        for (std::size_t part = 0; part < kStepParts.size(); ++part) {
            sum += m_bars[i].us[part];
            const double top = std::max(m_frame.plot.top(), std::round(m_frame.yOf(sum)));
            if (top < bottom)
                fillAs(painter, QRectF(left, top, right - left, bottom - top), kStepParts[part].which, theme.dark);
            bottom = std::min(bottom, top);
        }
        if (m_bars[i].isSlow) { // a triangle above the bar
            const double middle = (left + right) / 2, tip = std::max(m_frame.plot.top() - 1, bottom - 3);
            const QPolygonF mark({{middle, tip}, {middle - 4, tip - 6}, {middle + 4, tip - 6}});
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.found);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.drawPolygon(mark);
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        if (m_bars[i].total > m_frame.topUs) { // a cut bar has a gap and its full value
            painter.fillRect(QRectF(left, m_frame.plot.top() + 4, right - left, 2), theme.background);
            if (right + 4 < labelled)
                continue;
            const QString figure = QStringLiteral("↑ ") + formatUs(m_bars[i].total);
            const double width = fontMetrics().horizontalAdvance(figure) + 6;
            labelled = right + 2 + width;
            labels.emplace_back(QRectF(right + 1, m_frame.plot.top() - 3, width, fontMetrics().height()), figure);
        }
    }
    painter.setPen(theme.text);
    for (const auto& [room, figure] : labels) {
        painter.fillRect(room, theme.background);
        painter.drawText(room, Qt::AlignCenter, figure);
    }
    const auto frameStep = [&](int step, const QColor& color, double width) {
        const int bar = step / m_perBar;
        const double left = m_frame.xOf(bar * m_perBar),
                     right = m_frame.xOf(std::min(m_frame.steps, (bar + 1) * m_perBar));
        const double top = std::max(m_frame.plot.top(), m_frame.yOf(m_bars[static_cast<std::size_t>(bar)].total));
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(color, width));
        painter.drawRect(QRectF(std::round(left) - 1, std::round(top) - 2, std::round(right - left) + 1,
                                m_frame.plot.bottom() - top + 2));
    };
    if (m_hovered)
        frameStep(*m_hovered, theme.text, 1);
    if (m_chosen)
        frameStep(*m_chosen, theme.text, 2);
}

void StepBars::paintLegend(QPainter& painter, const TimelineTheme& theme) const
{
    const QFontMetricsF metrics(font());
    double x = kAxisWidth;
    for (const StepPart& part : kStepParts) {
        const bool shown = std::any_of(m_bars.begin(), m_bars.end(), [&](const Bar& bar) {
            return bar.us[static_cast<std::size_t>(&part - kStepParts.data())] > 0;
        });
        if (!shown)
            continue;
        const QString name = stepPartName(part);
        const double width = 18 + metrics.horizontalAdvance(name) + 14;
        if (x + width > this->width())
            return;
        painter.drawPixmap(QPointF(x, 5 + (metrics.height() - 12) / 2),
                           swatch(part.which, theme.dark, devicePixelRatioF()));
        painter.setPen(theme.dimText);
        painter.drawText(QPointF(x + 18, 5 + metrics.ascent()), name);
        x += width;
    }
    QStringList notes{m_statistics};
    if (m_perBar > 1)
        notes << tr("%1 steps per bar").arg(m_perBar);
    // Text that does not fit next to the legend is also in the summary.
    for (; !notes.isEmpty(); notes.removeFirst()) {
        const QString note = notes.join(QStringLiteral("  ·  "));
        const double left = width() - kRight - m_cornerWidth - metrics.horizontalAdvance(note);
        if (left <= x)
            continue;
        painter.setPen(theme.dimText);
        painter.drawText(QPointF(left, 5 + metrics.ascent()), note);
        return;
    }
}

void StepBars::mouseMoveEvent(QMouseEvent* event)
{
    const QPointF at = event->position();
    m_hovered.reset();
    if (!m_steps.empty() && m_frame.plot.adjusted(0, 0, 0, 4).contains(at)) {
        m_hovered = m_frame.stepAt(at.x());
        QToolTip::showText(event->globalPosition().toPoint(), describe(*m_hovered), this);
    } else {
        QToolTip::hideText();
    }
    update();
}

void StepBars::leaveEvent(QEvent*)
{
    m_hovered.reset();
    update();
}

void StepBars::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && !m_steps.empty() && m_frame.plot.contains(event->position()))
        choose(m_frame.stepAt(event->position().x()));
}

void StepBars::contextMenuEvent(QContextMenuEvent* event)
{
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    if (m_steps.empty() || (byKey && !m_chosen) || (!byKey && !m_frame.plot.contains(event->pos())))
        return;
    const int step = byKey ? *m_chosen : m_frame.stepAt(event->pos().x());
    const QPoint at(static_cast<int>(m_frame.xOf(step)), static_cast<int>(m_frame.plot.center().y()));
    emit menuWanted(step, byKey ? mapToGlobal(at) : event->globalPos());
}

void StepBars::setCornerWidth(int width)
{
    m_cornerWidth = width;
    update();
}

void StepBars::keyPressEvent(QKeyEvent* event)
{
    const int last = static_cast<int>(m_steps.size()) - 1;
    const int now = m_chosen.value_or(-1);
    switch (event->key()) {
    case Qt::Key_Left:
        choose(std::max(0, now - 1));
        break;
    case Qt::Key_Right:
        choose(std::min(last, now + 1));
        break;
    case Qt::Key_Home:
        choose(0);
        break;
    case Qt::Key_End:
        choose(last);
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        choose(std::max(0, now));
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

void StepBars::choose(int step)
{
    if (step < 0 || step >= static_cast<int>(m_steps.size()))
        return;
    setChosen(step);
    emit stepChosen(step);
}

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
    m_frame.topUs = chartTop(steady > 0 && all > steady * kTimeOutlier ? steady * 1.1 : all);
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
