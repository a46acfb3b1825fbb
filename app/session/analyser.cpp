#include "app/session/analyser.h"

#include "advisor/rule.h"
#include "app/session/session.h"
#include "profiler/analysis/facts.h"

#include <algorithm>
#include <utility>

namespace app {

namespace {

std::shared_ptr<const Analysed> compute(std::shared_ptr<const profiler::Trace> trace,
                                        const config::TrainingConfig* config)
{
    auto result = std::make_shared<Analysed>();
    result->facts = profiler::analysis::analyse(*trace);
    result->advice = advisor::advise(*trace, result->facts, config);
    result->summary = summarise(trace, result->facts.steps);
    result->trace = std::move(trace);
    return result;
}

} // namespace

Analyser::Analyser(QObject* parent) : QObject(parent), m_thread(this)
{
    m_later.setSingleShot(true);
    connect(&m_later, &QTimer::timeout, this, &Analyser::startNext);
}

Analyser::~Analyser()
{
    m_thread.cancel();
}

void Analyser::request(std::shared_ptr<const profiler::Trace> trace, std::optional<config::TrainingConfig> config)
{
    const bool live = trace->captureStats().live;
    m_next = Request{std::move(trace), std::move(config)};
    if (m_busy)
        return;
    // A hundredth of one core at most, while the training needs it.
    const qint64 pause = std::max<qint64>(1000, 100 * m_lastMs);
    if (!live || !m_sinceEnd.isValid() || m_sinceEnd.elapsed() >= pause)
        startNext();
    else if (!m_later.isActive())
        m_later.start(static_cast<int>(pause - m_sinceEnd.elapsed()));
}

void Analyser::reset()
{
    m_next.reset();
    m_later.stop();
    m_thread.cancel();
    m_busy = false;
    m_sinceEnd.invalidate();
}

void Analyser::startNext()
{
    m_later.stop();
    if (!m_next || m_busy)
        return;
    m_busy = true;
    m_thread.start([this, job = *std::exchange(m_next, {})](const std::stop_token&, const Background::Post& post) {
        QElapsedTimer timer;
        timer.start();
        auto result = compute(job.trace, job.config ? &*job.config : nullptr);
        post([this, result = std::move(result), took = timer.elapsed()] {
            m_busy = false;
            m_lastMs = took;
            m_sinceEnd.start();
            emit analysed(result);
            if (m_next)
                request(m_next->trace, m_next->config);
        });
    });
}

} // namespace app
