#include "app/session/analyser.h"

#include "advisor/rule.h"
#include "app/session/session.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/step_repetition.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace app {

namespace {

std::shared_ptr<const Analysed> compute(std::shared_ptr<const profiler::Trace> trace,
                                        const config::TrainingConfig* config, bool byRepetition)
{
    auto result = std::make_shared<Analysed>();
    std::vector<profiler::analysis::Step> steps;
    if (byRepetition) {
        auto found = profiler::analysis::repeatedSteps(*trace);
        steps = std::move(found.steps);
        result->whyNoRepetition = QString::fromStdString(found.whyNot);
    }
    if (steps.empty())
        steps = profiler::analysis::findSteps(*trace);
    result->facts = profiler::analysis::analyse(*trace, std::move(steps));
    result->advice = advisor::advise(*trace, result->facts, config);
    result->summary = summarise(trace, result->facts.steps);
    result->trace = std::move(trace);
    return result;
}

/// Processor time of the calling thread. On a machine that the training fills, an analysis lasts far longer than that.
std::chrono::nanoseconds cpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

} // namespace

std::chrono::milliseconds Analyser::pauseAfter(std::chrono::nanoseconds cpu)
{
    using namespace std::chrono_literals;
    return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(100 * cpu), 1000ms, 30000ms);
}

Analyser::Analyser(QObject* parent) : QObject(parent), m_thread(this, Background::Stops::AtItsEnd)
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
    m_next = Request{std::move(trace), std::move(config), m_byRepetition};
    if (m_busy)
        return;
    const std::chrono::milliseconds pause = pauseAfter(m_lastCpu);
    if (!live || !m_sinceEnd.isValid() || m_sinceEnd.elapsed() >= pause.count())
        startNext();
    else if (!m_later.isActive())
        m_later.start(static_cast<int>(pause.count() - m_sinceEnd.elapsed()));
}

void Analyser::reset()
{
    m_next.reset();
    m_byRepetition = false;
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
        const std::chrono::nanoseconds before = cpuTime();
        auto result = compute(job.trace, job.config ? &*job.config : nullptr, job.byRepetition);
        post([this, result = std::move(result), took = cpuTime() - before] {
            m_busy = false;
            m_lastCpu = took;
            m_sinceEnd.start();
            emit analysed(result);
            if (m_next)
                request(m_next->trace, m_next->config);
        });
    });
}

} // namespace app
