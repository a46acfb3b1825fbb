#include "app/session/session.h"
#include "app/views/live/sparkline.h"
#include "app/views/view.h"
#include "app/widgets/number_format.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QTimer>

namespace app::views {

namespace {

/// Throughput, step time and loss of the run, as it goes.
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
        // Progress comes up to twenty times a second; nobody reads numbers faster than this.
        m_redraw.setSingleShot(true);
        m_redraw.setInterval(150);
        connect(&m_redraw, &QTimer::timeout, this, &LiveFigures::show);
        connect(session, &Session::progressed, this, [this] {
            if (!m_redraw.isActive())
                m_redraw.start();
        });
        connect(session, &Session::traceReplaced, this, &LiveFigures::show);
        show();
    }

private:
    void show()
    {
        const auto& steps = m_session->stepHistory();
        setVisible(!steps.empty());
        if (steps.empty())
            return;
        std::vector<double> rates, times, losses;
        for (const auto& step : steps) {
            rates.push_back(step.samplesPerSecond);
            times.push_back(step.stepSeconds);
            if (step.loss)
                losses.push_back(*step.loss);
        }
        const QString rate = formatRate(steps.back().samplesPerSecond, Session::tr("samples"));
        m_rate->show(rate, std::move(rates));
        m_stepTime->show(formatUs(1e6 * steps.back().stepSeconds), std::move(times));
        const QString loss = losses.empty() ? Session::tr("not read yet") : formatSignificant(losses.back());
        m_loss->show(loss, std::move(losses));
    }

    Session* m_session;
    Sparkline *m_rate, *m_stepTime, *m_loss;
    QTimer m_redraw;
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
