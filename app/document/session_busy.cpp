#include "app/document/session.h"
#include "app/document/session_state.h"

// Mutual exclusion of activities, and stopping them.
namespace app {

void Session::connectBusy()
{
    connect(this, &Session::runStateChanged, this, &Session::busyChanged);
    connect(this, &Session::experimentStarted, this, &Session::busyChanged);
    connect(this, &Session::experimentFinished, this, &Session::busyChanged);
    connect(this, &Session::experimentFailed, this, &Session::busyChanged);
    connect(this, &Session::tuningStarted, this, &Session::busyChanged);
    connect(this, &Session::tuningEnded, this, &Session::busyChanged);
}

bool Session::isBusy() const
{
    return runState() != RunState::Idle || experimentRunning() || tuningRunning() || m->recording;
}

QString Session::whyBusy() const
{
    if (runState() != RunState::Idle)
        return tr("A training run is in progress.");
    if (m->recording)
        return tr("A recording is in progress.");
    if (m->levelCosts.isMeasuring())
        return tr("A measurement of the recording overhead is in progress.");
    if (m->experiments.isRunning())
        return tr("A measurement is in progress.");
    return tuningRunning() ? tr("Tuning is in progress.") : QString();
}

/// Reports the reason if it may not.
bool Session::mayStart()
{
    const QString why = whyBusy();
    if (!why.isEmpty())
        emit noticed(tr("Not started. %1").arg(why),
                     tr("Running both would skew the results. Stop it first, or wait until it is done."), false);
    return why.isEmpty();
}

void Session::setRecording(bool recording)
{
    if (m->recording == recording)
        return;
    m->recording = recording;
    if (!recording)
        leaveRecording();
    emit busyChanged();
}

bool Session::isRecording() const
{
    return m->recording;
}

bool Session::canStop() const
{
    if (runState() != RunState::Idle)
        return runState() != RunState::Stopping;
    return (m->experiments.isRunning() && !m->experiments.isStopping()) || m->levelCosts.isMeasuring() ||
           (m->tuning.isRunning() && !m->tuning.isStopping());
}

void Session::stopWhatRuns()
{
    if (runState() != RunState::Idle)
        stop();
    else if (m->experiments.isRunning())
        cancelExperiment();
    else if (m->tuning.isRunning())
        stopTuning();
    else
        cancelLevelCosts();
}

void Session::veto(const QString& why)
{
    m->vetoReason = why;
}

bool Session::takeEdits()
{
    m->vetoReason.clear();
    emit commitPendingEdits();
    if (m->vetoReason.isEmpty())
        return true;
    emit noticed(tr("Not started: invalid setting."), m->vetoReason, true);
    return false;
}

} // namespace app
