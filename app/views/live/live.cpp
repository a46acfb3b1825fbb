#include "app/document/session.h"
#include "app/look/number_format.h"
#include "app/views/live/decimated_series.h"
#include "app/views/live/sparkline.h"
#include "app/views/view.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QTimer>
#include <optional>

namespace app::views {

namespace {

/// Live throughput, step time and loss of the run.
class LiveFigures : public QWidget {
public:
    LiveFigures(Session* session, QWidget* parent)
        : QWidget(parent), m_session(session), m_rate(new Sparkline(Session::tr("Throughput"), this)),
          m_stepTime(new Sparkline(Session::tr("Step time"), this)), m_loss(new Sparkline(Session::tr("Loss"), this))
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
        connect(session, &Session::progressed, this, [this] {
            if (!m_redraw.isActive())
                m_redraw.start();
        });
        connect(session, &Session::traceReplaced, this, [this] {
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
        setVisible(!m_session->stepHistory().empty());
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
        const auto& steps = m_session->stepHistory();
        if (m_read >= steps.size())
            return;
        for (; m_read < steps.size(); ++m_read) {
            const auto& step = steps[m_read];
            m_rates.add(step.samplesPerSecond);
            m_times.add(step.stepSeconds);
            if (step.loss)
                m_losses.add(*(m_lastLoss = step.loss));
        }
        m_rate->show(formatRate(steps.back().samplesPerSecond, Session::tr("samples")), m_rates.means());
        m_stepTime->show(formatUs(1e6 * steps.back().stepSeconds), m_times.means());
        m_loss->show(m_lastLoss ? formatSignificant(*m_lastLoss) : Session::tr("not read yet"), m_losses.means());
    }

    Session* m_session;
    Sparkline *m_rate, *m_stepTime, *m_loss;
    QTimer m_redraw;
    DecimatedSeries m_rates, m_times, m_losses;
    std::optional<double> m_lastLoss;
    std::size_t m_read = 0; ///< position in the session's history, which restarts with another trace
};

QWidget* create(const ViewContext& context, QWidget* parent)
{
    return new LiveFigures(context.session, parent);
}

} // namespace

View live()
{
    return {QCoreApplication::translate("views", "Live figures"), ViewArea::Center, -10, create};
}

} // namespace app::views
