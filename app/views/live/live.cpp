#include "app/look/number_format.h"
#include "app/views/live/decimated_series.h"
#include "app/views/live/sparkline.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QTimer>
#include <optional>

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
