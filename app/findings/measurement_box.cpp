#include "app/findings/measurement_box.h"

#include "app/charts/xy_chart.h"
#include "app/document/finding_text.h"
#include "app/findings/loss_charts.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace app {

/// A ratio and its confidence interval on a logarithmic axis around "no difference". The axis range never grows, so
/// that the shrinking of the interval is visible.
class IntervalBar : public QWidget {
public:
    explicit IntervalBar(QWidget* parent);

    void show(const std::optional<advisor::Interval>& ratio);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] double position(double ratio) const; ///< [0, 1] along the axis

    std::optional<advisor::Interval> m_ratio;
    double m_reach = 0; ///< the axis goes from 1 / reach to reach; 0: not known yet
};

namespace {

QPushButton* makeButton(const QString& name, const QString& text, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setObjectName(name);
    return button;
}

/// "3 pairs so far".
QString soFar(const advisor::ExperimentProgress& progress)
{
    const auto count = progress.pairs.size();
    if (progress.objective == advisor::Objective::LossAtEqualTime)
        return count == 1 ? MeasurementBox::tr("1 seed so far") : MeasurementBox::tr("%1 seeds so far").arg(count);
    return count == 1 ? MeasurementBox::tr("1 pair so far") : MeasurementBox::tr("%1 pairs so far").arg(count);
}

constexpr std::array kReaches = {1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0};

double reachFor(const advisor::Interval& ratio)
{
    const double farthest =
        std::max({std::abs(std::log(std::max(ratio.low, 1e-3))), std::abs(std::log(std::max(ratio.high, 1e-3)))});
    const auto found =
        std::find_if(kReaches.begin(), kReaches.end(), [&](double reach) { return std::log(reach) > farthest; });
    return found == kReaches.end() ? kReaches.back() : *found;
}

} // namespace

MeasurementBox::MeasurementBox(QWidget* parent)
    : QWidget(parent), m_headline(makeTextLabel("verdict", this)), m_bar(new IntervalBar(this)),
      m_detail(makeTextLabel("measured", this)), m_lossOver(new QComboBox(this)),
      m_loss(new XyChart(QStringLiteral("loss"), this)), m_stop(makeButton("stopMeasuring", tr("Stop"), this)),
      m_keep(makeButton("keep", tr("Keep"), this)), m_undo(makeButton("undo", tr("Undo"), this)),
      m_again(makeButton("runAgain", tr("Run again"), this))
{
    QFont font = m_headline->font();
    font.setWeight(QFont::DemiBold);
    m_headline->setFont(font);
    m_detail->setForegroundRole(QPalette::PlaceholderText);
    m_lossOver->setObjectName("lossOver");
    m_lossOver->setAccessibleName(tr("Chart of the loss"));
    m_lossOver->addItem(tr("Show loss…"));
    m_lossOver->addItem(tr("Loss over time"), int(LossOver::Time));
    m_lossOver->addItem(tr("Loss over samples"), int(LossOver::Samples));
    m_loss->setObjectName("lossChart");
    m_loss->setMinimumHeight(150);
    m_keep->setProperty("primary", true);
    m_again->setProperty("primary", true);
    m_again->setIcon(icon("start", QPalette::HighlightedText));
    m_again->setToolTip(tr("Run the training again with the change"));
    m_stop->setIcon(icon("stop"));
    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {m_stop, m_keep, m_again, m_undo})
        buttons->addWidget(button);
    buttons->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 0);
    layout->setSpacing(6);
    layout->addWidget(m_headline);
    layout->addWidget(m_bar);
    layout->addWidget(m_detail);
    layout->addWidget(m_lossOver, 0, Qt::AlignLeft);
    layout->addWidget(m_loss);
    layout->addLayout(buttons);
    showLosses({});
    connect(m_lossOver, &QComboBox::activated, this, &MeasurementBox::drawLosses);
    connect(m_stop, &QPushButton::clicked, this, &MeasurementBox::stopClicked);
    connect(m_keep, &QPushButton::clicked, this, &MeasurementBox::keepClicked);
    connect(m_undo, &QPushButton::clicked, this, &MeasurementBox::undoClicked);
    connect(m_again, &QPushButton::clicked, this, &MeasurementBox::runAgainClicked);
}

void MeasurementBox::showStarting(const QString& expected)
{
    showMeasuring(true);
    m_headline->setText(m_isProgram ? tr("Measuring: starting the program with and without the change")
                                    : tr("Measuring: starting two trainers"));
    m_bar->show(std::nullopt);
    m_detail->setText(expected);
}

void MeasurementBox::showStopping()
{
    showMeasuring(false);
    m_headline->setText(tr("Stopping…"));
}

void MeasurementBox::showMeasuring(bool canStop)
{
    m_headline->setPalette(QPalette());
    for (QPushButton* button : {m_keep, m_undo, m_again})
        button->hide();
    m_stop->show();
    m_stop->setEnabled(canStop);
    showLosses({});
}

void MeasurementBox::showLosses(std::vector<advisor::LossesOfSeed> losses)
{
    m_losses = std::move(losses);
    m_lossOver->setVisible(!m_losses.empty());
    drawLosses();
}

void MeasurementBox::drawLosses()
{
    const bool shown = !m_losses.empty() && m_lossOver->currentIndex() > 0;
    m_loss->setVisible(shown);
    if (shown)
        m_loss->show(lossOfArms(m_losses, LossOver(m_lossOver->currentData().toInt())));
}

void MeasurementBox::showProgress(const advisor::ExperimentProgress& progress)
{
    showMeasuring(true);
    QString doing = QString::fromStdString(progress.doing);
    if (!doing.isEmpty())
        doing[0] = doing[0].toUpper();
    if (progress.savedLoss)
        m_headline->setText(tr("%1 · loss %2").arg(doing, lossDifferenceText(*progress.savedLoss)));
    else
        m_headline->setText(progress.ratio ? QString("%1 · %2").arg(doing, ratioAndInterval(*progress.ratio)) : doing);
    m_bar->show(progress.ratio);
    QString detail = soFar(progress);
    if (progress.secondsLeft > 0)
        detail +=
            tr(" · at most %1 left").arg(aboutText(std::chrono::seconds(static_cast<qint64>(progress.secondsLeft))));
    m_detail->setText(detail);
}

void MeasurementBox::showVerdict(const advisor::ExperimentResult& result, bool isKept)
{
    const Shades tones = shades(QApplication::palette());
    const bool pays = result.verdict == advisor::Verdict::Pays, costs = result.verdict == advisor::Verdict::Costs;
    m_headline->setText(isKept ? tr("Kept. %1").arg(verdictText(result)) : verdictText(result));
    if (pays || costs)
        setTextColor(m_headline, pays ? tones.good : tones.bad);
    else
        m_headline->setPalette(QPalette());
    m_bar->show(advisor::isScreening(result.plan) ? result.judgedRatio : result.samplesPerSecond);
    m_detail->setText(predictedAndMeasured(result) + "\n" + QString::fromStdString(result.whyText()));
    showLosses(result.losses);
    m_stop->hide();
    m_keep->setVisible(!isKept);
    m_keep->setToolTip(m_isProgram ? tr("Add the change to the journal. Later measurements build on it.")
                                   : tr("Add the change to the configuration"));
    m_undo->show();
    m_undo->setText(isKept ? tr("Undo") : tr("Discard"));
    if (m_isProgram)
        m_undo->setToolTip(isKept ? tr("Remove the change from the journal") : tr("Discard this measurement"));
    else
        m_undo->setToolTip(isKept ? tr("Remove the change from the configuration")
                                  : tr("Discard this measurement; the configuration is not changed"));
    m_again->setVisible(isKept && !m_isProgram);
}

void MeasurementBox::showRefusal(const advisor::ExperimentResult& result, const QStringList& traceback)
{
    setTextColor(m_headline, shades(QApplication::palette()).bad);
    m_headline->setText(tr("The program fails with this change"));
    m_bar->show(std::nullopt);
    m_detail->setText(QString::fromStdString(result.whyText()) + '\n' + traceback.join('\n'));
    showLosses({});
    for (QPushButton* button : {m_stop, m_keep, m_again})
        button->hide();
    m_undo->show();
    m_undo->setText(tr("Discard"));
    m_undo->setToolTip(tr("Discard this measurement"));
}

void MeasurementBox::setBusy(const QString& why)
{
    m_again->setEnabled(why.isEmpty());
    m_again->setToolTip(why.isEmpty() ? tr("Start a training run with all kept changes") : why);
}

IntervalBar::IntervalBar(QWidget* parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize IntervalBar::sizeHint() const
{
    return {160, 14 + fontMetrics().height()};
}

void IntervalBar::show(const std::optional<advisor::Interval>& ratio)
{
    m_ratio = ratio;
    if (ratio) {
        const double reach = reachFor(*ratio);
        m_reach = m_reach == 0 ? reach : std::min(m_reach, reach);
        setAccessibleDescription(ratioAndInterval(*ratio));
    } else {
        m_reach = 0;
    }
    update();
}

double IntervalBar::position(double ratio) const
{
    return std::clamp(0.5 + 0.5 * std::log(std::max(ratio, 1e-3)) / std::log(m_reach), 0.0, 1.0);
}

void IntervalBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Shades tones = shades(palette());
    const QRectF bar(1, 1, width() - 2, 10);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::Midlight));
    painter.drawRoundedRect(bar, 3, 3);
    const auto x = [&](double ratio) { return bar.left() + bar.width() * position(ratio); };
    if (m_ratio && m_reach > 1) {
        const bool faster = m_ratio->low > 1.01, slower = m_ratio->high < 0.99;
        const QColor tone = faster ? tones.good : slower ? tones.bad : tones.muted;
        QColor wash = tone;
        wash.setAlphaF(0.45F);
        painter.setBrush(wash);
        painter.drawRoundedRect(QRectF(QPointF(x(m_ratio->low), bar.top()), QPointF(x(m_ratio->high), bar.bottom())), 2,
                                2);
        painter.fillRect(QRectF(x(m_ratio->value) - 1, bar.top() - 1, 2, bar.height() + 2), tone);
        painter.setPen(tones.muted);
        const QRectF text(0, bar.bottom() + 1, width(), height() - bar.bottom() - 1);
        painter.drawText(text, Qt::AlignLeft, QString("%1 ×").arg(1 / m_reach, 0, 'g', 2));
        painter.drawText(text, Qt::AlignRight, QString("%1 ×").arg(m_reach, 0, 'g', 3));
        painter.drawText(text, Qt::AlignHCenter, tr("no difference"));
    }
    painter.fillRect(QRectF(bar.center().x() - 0.5, bar.top(), 1, bar.height()), palette().color(QPalette::WindowText));
}

} // namespace app
