#include "app/window/window_strips.h"

#include "app/document/finding_text.h"
#include "app/document/recording_cost_text.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/theme.h"
#include "app/services/job_guard.h"
#include "app/services/level_costs.h"
#include "app/services/training_service.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>
#include <QUrl>
#include <cmath>

namespace app {

NoticeStrip::NoticeStrip(QWidget* parent)
    : QFrame(parent), m_what(new QLabel(this)), m_detail(new QPlainTextEdit(this)),
      m_open(makeButton("noticeOpen", "open", tr("Open"))), m_more(makeButton("noticeMore", "expand", tr("Details"))),
      m_copy(makeButton("noticeCopy", "copy", tr("Copy"))), m_close(makeButton("noticeClose", "close", {}))
{
    setObjectName("notice");
    m_what->setObjectName("noticeText");
    m_what->setWordWrap(true);
    m_what->setTextFormat(Qt::PlainText);
    m_what->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_detail->setReadOnly(true);
    m_detail->setFrameShape(QFrame::NoFrame);
    m_detail->setTabChangesFocus(true);
    m_close->setToolTip(tr("Close this message"));
    m_close->setAccessibleName(m_close->toolTip());
    auto* line = new QHBoxLayout;
    line->addWidget(m_what, 1);
    for (QToolButton* button : {m_open, m_more, m_copy, m_close})
        line->addWidget(button, 0, Qt::AlignTop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kNoticeSignRoom, 5, 6, 5);
    layout->addLayout(line);
    layout->addWidget(m_detail);
    connect(m_open, &QToolButton::clicked, this, [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(m_file)); });
    connect(m_more, &QToolButton::clicked, this, [this] { fold(m_detail->isVisibleTo(this)); });
    connect(m_copy, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(m_what->text() + "\n" + m_detail->toPlainText()); });
    connect(m_close, &QToolButton::clicked, this, &NoticeStrip::dismiss);
    hide();
}

QToolButton* NoticeStrip::makeButton(const QString& name, const QString& iconStem, const QString& text)
{
    auto* button = new QToolButton(this);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    button->setText(text);
    button->setToolButtonStyle(text.isEmpty() ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

QString NoticeStrip::text() const
{
    return m_what->text();
}
QString NoticeStrip::detail() const
{
    return m_detail->toPlainText();
}

void NoticeStrip::show(const QString& what, const QString& detail, bool isError)
{
    if (isVisibleTo(parentWidget()) && m_isError && !isError)
        return;
    m_isError = isError;
    m_what->setText(what);
    m_detail->setPlainText(detail);
    const auto lines = std::min<qsizetype>(8, detail.count('\n') + 2);
    m_detail->setFixedHeight(static_cast<int>(lines) * m_detail->fontMetrics().lineSpacing() + 10);
    m_open->hide();
    m_more->setVisible(!detail.isEmpty());
    m_copy->setVisible(!detail.isEmpty());
    fold(true);
    setVisible(true);
    update();
}

void NoticeStrip::offerToOpen(const QString& file)
{
    if (m_isError)
        return; // an error is not replaced by information
    m_file = file;
    m_open->show();
}

void NoticeStrip::dismiss()
{
    hide();
    m_isError = false;
}

void NoticeStrip::fold(bool folded)
{
    m_detail->setVisible(!folded);
    m_more->setIcon(icon(folded ? "expand" : "collapse"));
}

void NoticeStrip::paintEvent(QPaintEvent*)
{
    const Shades tones = shades(palette());
    const QColor tone = m_isError ? tones.bad : m_open->isVisibleTo(this) ? tones.good : tones.warning;
    QPainter painter(this);
    paintNotice(painter, *this, m_isError ? "error" : "info", tone);
}

LoadingBar::LoadingBar(QWidget* parent) : QWidget(parent), m_what(new QLabel(this)), m_bar(new QProgressBar(this))
{
    auto* cancel = new QPushButton(tr("Cancel"), this);
    cancel->setObjectName("cancelLoading");
    m_bar->setRange(0, 1000);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(10);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 6, 8, 6);
    layout->addWidget(m_what);
    layout->addWidget(m_bar, 1);
    layout->addWidget(cancel);
    connect(cancel, &QPushButton::clicked, this, &LoadingBar::cancelled);
    hide();
}

void LoadingBar::show(const QString& what, double share)
{
    // Rounded down, so that unfinished work never reads 100 %.
    m_what->setText(QString("%1 · %2").arg(what, formatShare(std::floor(100 * share) / 100)));
    m_bar->setValue(static_cast<int>(1000 * share));
    setVisible(share < 1);
}

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
