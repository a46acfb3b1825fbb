#include "app/window/status_line.h"

#include "app/document/finding_text.h"
#include "app/look/elided_label.h"
#include "app/look/number_format.h"
#include "app/window/overhead_text.h"

#include <QLabel>
#include <QProgressBar>

namespace app {

namespace {

QString stateText(const Session& session)
{
    switch (session.runState()) {
    case RunState::Idle:
        return session.tuningRunning()         ? StatusLine::tr("tuning")
               : session.measuringLevelCosts() ? StatusLine::tr("measuring the recording overhead")
               : session.experimentRunning()   ? StatusLine::tr("measuring a change")
               : session.isRecording()         ? StatusLine::tr("recording a program")
                                               : StatusLine::tr("ready");
    case RunState::Starting:
        return StatusLine::tr("starting");
    case RunState::Running:
        return StatusLine::tr("training");
    case RunState::Paused:
        return StatusLine::tr("paused");
    case RunState::Stopping:
        return StatusLine::tr("stopping after this step");
    }
    return {};
}

/// The steps of the last run do not belong to the current activity.
bool runsSomethingElse(const Session& session)
{
    return session.runState() == RunState::Idle && (session.tuningRunning() || session.measuringLevelCosts() ||
                                                    session.experimentRunning() || session.isRecording());
}

void addTraceFigures(QStringList& parts, const Session& session)
{
    const profiler::Trace& trace = *session.trace();
    const profiler::CaptureStats& stats = trace.captureStats();
    if (trace.sliceCount() == 0)
        return;
    if (session.isPartial())
        parts << StatusLine::tr("part of the file");
    parts << formatCounted(static_cast<std::int64_t>(trace.sliceCount()), StatusLine::tr("event"),
                           StatusLine::tr("events"));
    parts << StatusLine::tr("%1 of memory").arg(formatBytes(static_cast<double>(trace.memoryBytes())));
    parts << StatusLine::tr("%1 dropped").arg(formatCount(static_cast<std::int64_t>(stats.dropped)));
    if (stats.cut)
        parts << StatusLine::tr("truncated");
}

} // namespace

QString statusText(const Session& session, const QString& preparing, const QString& overhead)
{
    QStringList parts{stateText(session)};
    const auto& steps = session.stepHistory();
    if (session.runState() == RunState::Starting && !preparing.isEmpty())
        parts << preparing;
    if (!steps.empty() && !runsSomethingElse(session)) {
        const auto& last = steps.back();
        const auto total = session.hello() ? session.hello()->totalSteps : 0;
        parts << (total > 0 ? StatusLine::tr("step %1 of %2").arg(formatCount(last.step + 1), formatCount(total))
                            : StatusLine::tr("step %1").arg(formatCount(last.step + 1)));
        parts << formatRate(last.samplesPerSecond, StatusLine::tr("samples"));
        if (const auto loss = session.lastLoss())
            parts << StatusLine::tr("loss %1").arg(formatSignificant(*loss));
        parts << formatCounted(static_cast<std::int64_t>(last.dropped), StatusLine::tr("event dropped"),
                               StatusLine::tr("events dropped"));
    } else {
        addTraceFigures(parts, session);
    }
    if (!overhead.isEmpty())
        parts << overhead;
    return parts.join("  ·  ");
}

StatusLine::StatusLine(Session* session, QWidget* parent)
    : QStatusBar(parent), m_session(session), m_words(new ElidedLabel(this)), m_bar(new QProgressBar(this))
{
    m_words->setObjectName("status");
    m_words->setContentsMargins(6, 0, 6, 0);
    m_bar->setMaximumSize(180, 10);
    m_bar->setTextVisible(false);
    m_bar->hide();
    addWidget(m_words, 1);
    addPermanentWidget(m_bar);
    m_redraw.setSingleShot(true);
    m_redraw.setInterval(100);
    connect(&m_redraw, &QTimer::timeout, this, &StatusLine::showState);
    connect(session, &Session::progressed, this, &StatusLine::take);
    connect(session, &Session::runStateChanged, this, &StatusLine::showOverhead);
    connect(session, &Session::analysedChanged, this, &StatusLine::showOverhead);
    connect(session, &Session::busyChanged, this, &StatusLine::showState);
    connect(session, &Session::traceReplaced, this, &StatusLine::showOverhead);
    connect(session, &Session::levelCostsChanged, this, &StatusLine::showOverhead);
    connect(session, &Session::traceChanged, this, [this] {
        if (!m_redraw.isActive())
            m_redraw.start();
    });
    showState();
}

QString StatusLine::text() const
{
    return m_words->text();
}

void StatusLine::take(const config::protocol::Progress& progress)
{
    if (const auto* preparing = std::get_if<config::protocol::Preparing>(&progress)) {
        m_preparing = preparingText(*preparing);
        m_bar->setMaximum(static_cast<int>(std::min<std::int64_t>(preparing->total, 1'000'000'000)));
        m_bar->setValue(static_cast<int>(std::min<std::int64_t>(preparing->done, 1'000'000'000)));
    }
    if (!m_redraw.isActive())
        m_redraw.start();
}

void StatusLine::showOverhead()
{
    const OverheadText overhead = overheadText(*m_session);
    m_overhead = overhead.text;
    m_words->setToolTip(overhead.how);
    showState();
}

void StatusLine::showState()
{
    const RunState state = m_session->runState();
    if (state == RunState::Idle || state == RunState::Running)
        m_preparing.clear();
    m_words->setText(statusText(*m_session, m_preparing, m_overhead));
    // Before the first step there is no progress to show.
    const bool training = (state == RunState::Running || state == RunState::Paused || state == RunState::Stopping) &&
                          m_session->hello() && m_session->hello()->totalSteps > 0 && !m_session->stepHistory().empty();
    if (training) {
        m_bar->setMaximum(static_cast<int>(m_session->hello()->totalSteps));
        m_bar->setValue(static_cast<int>(m_session->stepHistory().back().step + 1));
    }
    m_bar->setVisible(training || (state == RunState::Starting && !m_preparing.isEmpty()));
}

} // namespace app
