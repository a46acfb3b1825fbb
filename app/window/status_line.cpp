#include "app/window/status_line.h"

#include "app/document/finding_text.h"
#include "app/document/trace_document.h"
#include "app/look/elided_label.h"
#include "app/look/number_format.h"
#include "app/services/job_guard.h"
#include "app/services/level_cost_measurer.h"
#include "app/services/training_service.h"
#include "app/window/overhead_text.h"

#include <QLabel>
#include <QProgressBar>

namespace app {

namespace {

QString stateText(RunState state, std::optional<Job> job)
{
    switch (state) {
    case RunState::Idle:
        break;
    case RunState::Starting:
        return StatusLine::tr("starting");
    case RunState::Running:
        return StatusLine::tr("training");
    case RunState::Paused:
        return StatusLine::tr("paused");
    case RunState::Stopping:
        return StatusLine::tr("stopping after this step");
    }
    if (job == Job::Tuning)
        return StatusLine::tr("tuning");
    if (job == Job::RecordingCost)
        return StatusLine::tr("measuring the recording overhead");
    if (job == Job::Experiment)
        return StatusLine::tr("measuring a change");
    return job == Job::Recording ? StatusLine::tr("recording a program") : StatusLine::tr("ready");
}

void addTraceFigures(QStringList& parts, const TraceDocument& document)
{
    const profiler::Trace& trace = *document.trace();
    const profiler::CaptureStats& stats = trace.captureStats();
    if (trace.sliceCount() == 0)
        return;
    if (document.isPartial())
        parts << StatusLine::tr("part of the file");
    parts << formatCounted(static_cast<std::int64_t>(trace.sliceCount()), StatusLine::tr("event"),
                           StatusLine::tr("events"));
    parts << StatusLine::tr("%1 of memory").arg(formatBytes(static_cast<double>(trace.memoryBytes())));
    parts << StatusLine::tr("%1 dropped").arg(formatCount(static_cast<std::int64_t>(stats.dropped)));
    if (stats.cut)
        parts << StatusLine::tr("truncated");
}

} // namespace

StatusLine::StatusLine(const TrainingService* training, const JobGuard* jobs, const TraceDocument* document,
                       const LevelCostMeasurer* levelCosts, QWidget* parent)
    : QStatusBar(parent), m_training(training), m_jobs(jobs), m_document(document), m_words(new ElidedLabel(this)),
      m_bar(new QProgressBar(this))
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
    connect(m_training, &TrainingService::progressed, this, &StatusLine::take);
    connect(m_training, &TrainingService::stateChanged, this, &StatusLine::showOverhead);
    connect(m_document, &TraceDocument::analysedChanged, this, &StatusLine::showOverhead);
    connect(m_jobs, &JobGuard::changed, this, &StatusLine::showState);
    connect(m_document, &TraceDocument::traceReplaced, this, &StatusLine::showOverhead);
    connect(levelCosts, &LevelCostMeasurer::changed, this, &StatusLine::showOverhead);
    connect(m_document, &TraceDocument::traceChanged, this, [this] {
        if (!m_redraw.isActive())
            m_redraw.start();
    });
    showState();
}

QString StatusLine::text() const
{
    return m_words->text();
}

/// "training · step 340 of 1,000 · 812 samples/s · loss 0.41 · 0 events dropped · Recording at level full adds 3.1 %
/// …".
QString StatusLine::stateAndFigures() const
{
    const RunState state = m_training->state();
    QStringList parts{stateText(state, m_jobs->running())};
    const auto& steps = m_training->stepHistory();
    if (state == RunState::Starting && !m_preparing.isEmpty())
        parts << m_preparing;
    // The steps of the last run do not belong to another activity.
    if (!steps.empty() && (state != RunState::Idle || !m_jobs->isBusy())) {
        const auto& last = steps.back();
        const auto total = m_training->hello() ? m_training->hello()->totalSteps : 0;
        parts << (total > 0 ? tr("step %1 of %2").arg(formatCount(last.step + 1), formatCount(total))
                            : tr("step %1").arg(formatCount(last.step + 1)));
        parts << formatRate(last.samplesPerSecond, tr("samples"));
        if (const auto loss = m_training->lastLoss())
            parts << tr("loss %1").arg(formatSignificant(*loss));
        parts << formatCounted(static_cast<std::int64_t>(last.dropped), tr("event dropped"), tr("events dropped"));
    } else {
        addTraceFigures(parts, *m_document);
    }
    if (!m_overhead.isEmpty())
        parts << m_overhead;
    return parts.join("  ·  ");
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
    const OverheadText overhead = overheadText(*m_document);
    m_overhead = overhead.text;
    m_words->setToolTip(overhead.how);
    showState();
}

void StatusLine::showState()
{
    const RunState state = m_training->state();
    if (state == RunState::Idle || state == RunState::Running)
        m_preparing.clear();
    m_words->setText(stateAndFigures());
    // Before the first step there is no progress to show.
    const bool training = (state == RunState::Running || state == RunState::Paused || state == RunState::Stopping) &&
                          m_training->hello() && m_training->hello()->totalSteps > 0 &&
                          !m_training->stepHistory().empty();
    if (training) {
        m_bar->setMaximum(static_cast<int>(m_training->hello()->totalSteps));
        m_bar->setValue(static_cast<int>(m_training->stepHistory().back().step + 1));
    }
    m_bar->setVisible(training || (state == RunState::Starting && !m_preparing.isEmpty()));
}

} // namespace app
