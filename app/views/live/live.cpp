#include "app/views/live/live.h"

#include "app/charts/chart.h"
#include "app/look/display_text.h"
#include "app/look/theme.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QTimer>
#include <QToolTip>
#include <algorithm>
#include <numeric>
#include <optional>

namespace app {

void DecimatedSeries::add(double value)
{
    if (m_means.empty() || m_last == m_each) {
        if (m_means.size() == kMost) { // all of them are full: merge pairs
            for (std::size_t i = 0; i < kMost / 2; ++i)
                m_means[i] = (m_means[2 * i] + m_means[2 * i + 1]) / 2;
            m_means.resize(kMost / 2);
            m_each *= 2;
        }
        m_means.push_back(0);
        m_sum = 0;
        m_last = 0;
    }
    m_sum += value;
    ++m_last;
    m_means.back() = m_sum / static_cast<double>(m_last);
}

namespace {
constexpr int kTextWidth = 132; ///< minimum width, so that several curves start at the same x
constexpr int kPadding = 8;

QFont fontOfLatest(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 1.15);
    font.setWeight(QFont::DemiBold);
    return font;
}

} // namespace

std::vector<double> thinned(const std::vector<double>& values, std::size_t columns)
{
    if (values.size() <= columns || columns == 0)
        return values;
    std::vector<double> means;
    for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t begin = i * values.size() / columns, end = (i + 1) * values.size() / columns;
        const auto at = [&](std::size_t n) { return values.begin() + static_cast<std::ptrdiff_t>(n); };
        means.push_back(std::accumulate(at(begin), at(end), 0.0) / static_cast<double>(end - begin));
    }
    return means;
}

Sparkline::Sparkline(const QString& title, QWidget* parent) : QWidget(parent), m_title(title)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(title);
    addChartExport(this, title.toLower().replace(u' ', u'-'), [this] {
        QString lines = csvLine({tr("Position in the run"), m_title});
        for (std::size_t i = 0; i < m_history.size(); ++i)
            lines +=
                csvLine({QString::number(static_cast<double>(i + 1) / static_cast<double>(m_history.size()), 'g', 6),
                         QString::number(m_history[i], 'g', 9)});
        return lines;
    });
}

QRectF Sparkline::curveArea() const
{
    return QRectF(rect()).adjusted(textWidth(), kPadding, -kPadding, -kPadding);
}

/// Over the curve: the value there, and the range of all.
bool Sparkline::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QRectF area = curveArea();
    QString tip = tr("%1: %2").arg(m_title, m_latest);
    if (m_history.size() > 1) {
        const auto [lowest, highest] = std::minmax_element(m_history.begin(), m_history.end());
        tip += u'\n' + tr("Of this run: %1 to %2").arg(formatSignificant(*lowest), formatSignificant(*highest));
        if (area.contains(help->pos())) {
            const double share = (help->pos().x() - area.left()) / area.width();
            const auto at = static_cast<std::size_t>(share * static_cast<double>(m_history.size() - 1) + 0.5);
            tip += u'\n' + tr("Here: %1").arg(formatSignificant(m_history[at]));
        }
    }
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

void Sparkline::show(const QString& latest, std::vector<double> history)
{
    if (latest.size() != m_latest.size())
        updateGeometry();
    m_latest = latest;
    m_history = std::move(history);
    setAccessibleDescription(latest);
    update();
}

QSize Sparkline::sizeHint() const
{
    return {260, minimumSizeHint().height()};
}

QSize Sparkline::minimumSizeHint() const
{
    return {textWidth(), fontMetrics().height() * 2 + 2 * kPadding + 4};
}

int Sparkline::textWidth() const
{
    return std::max(kTextWidth, QFontMetrics(fontOfLatest(font())).horizontalAdvance(m_latest) + 2 * kPadding);
}

void Sparkline::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRect text = rect().adjusted(kPadding, kPadding, 0, -kPadding);
    painter.setPen(shades(palette()).muted);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignTop, m_title);
    painter.setFont(fontOfLatest(painter.font()));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(text, Qt::AlignLeft | Qt::AlignBottom, m_latest);

    const QRectF area = curveArea();
    if (m_history.size() < 2 || area.width() < 24)
        return;
    const auto points = thinned(m_history, static_cast<std::size_t>(area.width()));
    const auto [lowest, highest] = std::minmax_element(points.begin(), points.end());
    const double span = *highest > *lowest ? *highest - *lowest : 1;
    QPainterPath curve;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const QPointF point(area.left() +
                                area.width() * static_cast<double>(i) / static_cast<double>(points.size() - 1),
                            area.bottom() - area.height() * (points[i] - *lowest) / span);
        i == 0 ? curve.moveTo(point) : curve.lineTo(point);
    }
    const QColor accent = palette().color(QPalette::Highlight);
    QPainterPath under = curve;
    under.lineTo(area.bottomRight());
    under.lineTo(area.bottomLeft());
    QColor wash = accent;
    wash.setAlphaF(0.12F);
    painter.fillPath(under, wash);
    painter.setPen(QPen(accent, 1.4));
    painter.drawPath(curve);
}

} // namespace app

namespace app::views {

namespace {

/// Live throughput, step time and loss of the run.
class LiveFigures : public QWidget {
public:
    LiveFigures(const TrainingService* training, const TraceDocument* document, QWidget* parent)
        : QWidget(parent), m_training(training), m_rate(new Sparkline(tr("Throughput"), this)),
          m_stepTime(new Sparkline(tr("Step time"), this)), m_loss(new Sparkline(tr("Loss"), this))
    {
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(0);
        for (Sparkline* figure : {m_rate, m_stepTime, m_loss})
            layout->addWidget(figure, 1);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        setFixedHeight(m_rate->sizeHint().height());
        // Progress arrives up to twenty times per second, too fast to read, so updates are throttled.
        m_redraw.setSingleShot(true);
        m_redraw.setInterval(150);
        connect(&m_redraw, &QTimer::timeout, this, &LiveFigures::refresh);
        connect(training, &TrainingService::progressed, this, [this] {
            if (!m_redraw.isActive())
                m_redraw.start();
        });
        connect(document, &TraceDocument::traceReplaced, this, [this] {
            forget();
            refresh();
        });
        refresh();
    }

protected:
    void showEvent(QShowEvent* event) override
    {
        QWidget::showEvent(event);
        readSteps(); // steps that arrived while the view was hidden
    }

private:
    void refresh()
    {
        setVisible(!m_training->stepHistory().empty());
        if (isVisible() && !window()->isMinimized())
            readSteps();
    }

    void forget()
    {
        m_rates = m_times = m_losses = {};
        m_lastLoss.reset();
        m_read = 0;
    }

    /// Adds and shows new steps.
    void readSteps()
    {
        const auto& steps = m_training->stepHistory();
        if (m_read >= steps.size())
            return;
        for (; m_read < steps.size(); ++m_read) {
            const auto& step = steps[m_read];
            m_rates.add(step.samplesPerSecond);
            m_times.add(step.stepSeconds);
            if (step.loss)
                m_losses.add(*(m_lastLoss = step.loss));
        }
        m_rate->show(formatRate(steps.back().samplesPerSecond, tr("samples")), m_rates.means());
        m_stepTime->show(formatUs(1e6 * steps.back().stepSeconds), m_times.means());
        m_loss->show(m_lastLoss ? formatSignificant(*m_lastLoss) : tr("not read yet"), m_losses.means());
    }

    const TrainingService* m_training;
    Sparkline *m_rate, *m_stepTime, *m_loss;
    QTimer m_redraw;
    DecimatedSeries m_rates, m_times, m_losses;
    std::optional<double> m_lastLoss;
    std::size_t m_read = 0; ///< position in the history of the run, which restarts with another trace
};

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new LiveFigures(&bench.training, &bench.document, parent);
}

} // namespace

View live()
{
    return {QCoreApplication::translate("views", "Live figures"), ViewArea::Center, -10, create};
}

} // namespace app::views
