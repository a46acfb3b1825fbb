#include "app/services/job_guard.h"

#include "app/services/notices.h"

#include <utility>

namespace app {

QString JobGuard::whyBusy() const
{
    if (!m_running)
        return {};
    switch (*m_running) {
    case Job::Training:
        return tr("A training run is in progress.");
    case Job::Recording:
        return tr("A recording is in progress.");
    case Job::RecordingCost:
        return tr("A measurement of the recording overhead is in progress.");
    case Job::Experiment:
        return tr("A measurement is in progress.");
    case Job::Tuning:
        return tr("Tuning is in progress.");
    }
    return {};
}

bool JobGuard::mayStart()
{
    if (m_running)
        emit m_notices->noticed(tr("Not started. %1").arg(whyBusy()),
                                tr("Running both would skew the results. Stop it first, or wait until it is done."),
                                false);
    return !m_running;
}

void JobGuard::begin(Job job, std::function<void()> stop)
{
    m_running = job;
    m_stopping = false;
    m_stop = std::move(stop);
    emit changed();
}

void JobGuard::setStopping(Job job)
{
    if (m_running != job || m_stopping)
        return;
    m_stopping = true;
    emit changed();
}

void JobGuard::end(Job job)
{
    if (m_running != job)
        return;
    m_running.reset();
    m_stop = nullptr;
    emit changed();
}

void JobGuard::stop()
{
    if (const auto stop = m_stop)
        stop();
}

} // namespace app
