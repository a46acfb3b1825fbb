#include "app/views/tune/tune_panel.h"

#include "app/charts/xy_chart.h"
#include "app/configuration/configuration_model.h"
#include "app/document/finding_text.h"
#include "app/document/trace_document.h"
#include "app/findings/loss_charts.h"
#include "app/look/icon.h"
#include "app/look/text_label.h"
#include "app/services/job_guard.h"
#include "app/services/journal_store.h"
#include "app/services/report_saver.h"
#include "app/services/run_store.h"
#include "app/services/tuning_service.h"
#include "app/tables/evidence_table.h"
#include "app/views/tune/throughput_chart.h"
#include "app/views/tune/tune_result_bar.h"
#include "app/views/tune/tune_rows.h"

#include <QComboBox>
#include <QDateTime>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace app {

namespace {

constexpr auto kMinutesKey = "tune/minutes";
constexpr int kUsualMinutes = 10;
constexpr int kMostMinutes = 24 * 60;
constexpr int kFewestRows = 4;  ///< visible rows, including the header
constexpr int kRowPadding = 10; ///< pixels around the text of a row

QPushButton* makeButton(const QString& name, const QString& iconStem, const QString& text, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    return button;
}

/// "3:05".
QString clockText(double seconds)
{
    const auto whole = static_cast<qint64>(std::max(0.0, seconds));
    return QString("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QChar('0'));
}

} // namespace

TunePanel::TunePanel(TuningService* tuning, ConfigurationModel* configuration, const TraceDocument* document,
                     const JournalStore* journal, const JobGuard* jobs, ReportSaver* reports, const RunStore* runs,
                     QWidget* parent)
    : QWidget(parent), m_tuning(tuning), m_configuration(configuration), m_document(document), m_journal(journal),
      m_jobs(jobs), m_reports(reports), m_runs(runs), m_watch(this), m_pages(new QStackedWidget(this))
{
    m_clock.setInterval(500);
    connect(&m_clock, &QTimer::timeout, this, &TunePanel::showClock);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    m_empty = makeEmptyLabel("tuneEmpty", m_pages);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(makePage());
    layout->addWidget(m_pages, 1);
    connectServices();
    showState();
}

QWidget* TunePanel::makeHeader()
{
    auto* header = new QWidget(this);
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(8, 4, 8, 4);
    m_start = makeButton("startTuning", "measure", tr("Tune"), header);
    m_start->setProperty("primary", true);
    m_start->setIcon(icon("measure", QPalette::HighlightedText));
    m_stop = makeButton("stopTuning", "stop", tr("Stop and keep best"), header);
    m_minutes = new QSpinBox(header);
    m_minutes->setObjectName("tuneMinutes");
    m_minutes->setRange(1, kMostMinutes);
    m_minutes->setSuffix(tr(" min"));
    m_minutes->setValue(QSettings().value(kMinutesKey, kUsualMinutes).toInt());
    m_minutes->setAccessibleName(tr("Time budget in minutes"));
    m_within = new QLabel(tr("within"), header);
    m_within->setBuddy(m_minutes);
    m_doing = new QLabel(header);
    m_doing->setObjectName("tuneDoing");
    m_doing->setTextFormat(Qt::PlainText);
    m_doing->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_spent = new QProgressBar(header);
    m_spent->setObjectName("tuneSpent");
    m_spent->setMinimumWidth(130);
    m_spent->setMaximumWidth(190);
    m_spent->setAccessibleName(tr("Time used of the time budget"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_start, m_stop, m_within, m_minutes})
        layout->addWidget(widget);
    m_chartChoice = new QComboBox(header);
    m_chartChoice->setObjectName("tuneChartOf");
    m_chartChoice->setAccessibleName(tr("What the chart shows"));
    m_chartChoice->setToolTip(m_chartChoice->accessibleName());
    m_chartChoice->addItem(tr("Throughput by workers"), QStringLiteral("loader.workers"));
    m_chartChoice->addItem(tr("Throughput by batch size"), QStringLiteral("batch.size"));
    m_chartChoice->addItem(tr("Loss over time"), int(LossOver::Time));
    m_chartChoice->addItem(tr("Loss over samples"), int(LossOver::Samples));
    m_chartChoice->hide();
    layout->addWidget(m_doing, 1);
    layout->addWidget(m_spent);
    layout->addWidget(m_chartChoice);
    setFocusProxy(m_start);
    connect(m_start, &QPushButton::clicked, this, &TunePanel::start);
    connect(m_stop, &QPushButton::clicked, m_tuning, &TuningService::stop);
    connect(m_minutes, &QSpinBox::valueChanged, this, [](int minutes) { QSettings().setValue(kMinutesKey, minutes); });
    return header;
}

QWidget* TunePanel::makePage()
{
    auto* page = new QWidget(m_pages);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(8, 2, 8, 6);
    layout->setSpacing(4);
    m_table = new EvidenceTable(tuneColumns(), tr("Changes that tuning tried"), page);
    m_table->setObjectName("tuneTable");
    m_origin = makeTextLabel("tuneOrigin", page);
    m_detail = makeTextLabel("tuneDetail", page);
    m_detail->setForegroundRole(QPalette::PlaceholderText);
    m_result = new TuneResultBar(m_tuning, m_configuration, m_document, m_jobs, m_reports, page);
    layout->addWidget(m_origin);
    layout->addWidget(m_result);
    auto* sides = new QSplitter(Qt::Horizontal, page);
    sides->setChildrenCollapsible(false);
    m_chart = new XyChart(QStringLiteral("tuning"), sides);
    m_chart->setObjectName("tuneChart");
    sides->addWidget(m_table);
    sides->addWidget(m_chart);
    sides->setStretchFactor(0, 3);
    sides->setStretchFactor(1, 2);
    sides->setSizes({300, 200});
    layout->addWidget(sides, 1);
    layout->addWidget(m_detail);
    // A low dock scrolls the page instead of squeezing its table.
    m_table->setMinimumHeight(kFewestRows * (m_table->fontMetrics().height() + kRowPadding));
    auto* scroll = new QScrollArea(m_pages);
    scroll->setObjectName("tuneScroll");
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(page);
    connect(m_table, &EvidenceTable::rowActivated, this, [this](const EvidenceRow& row) {
        m_trial = row.key.isEmpty() ? std::nullopt : std::optional<std::size_t>(row.key.toULongLong());
        showDetail(trialAt(row.key));
        showChart();
    });
    connect(m_chartChoice, &QComboBox::activated, this, &TunePanel::showChart);
    return scroll;
}

void TunePanel::connectServices()
{
    connect(m_tuning, &TuningService::started, this, [this] {
        m_spentAtWord = 0;
        m_wordAt = QDateTime::currentMSecsSinceEpoch();
        m_clock.start();
        showState();
        comeToFront();
    });
    connect(m_tuning, &TuningService::progressed, this, &TunePanel::showProgress);
    connect(m_tuning, &TuningService::ended, this, [this] {
        m_clock.stop();
        showState();
        markUnseen(!m_watch.isInFront());
    });
    connect(&m_watch, &VisibilityWatcher::cameToFront, this, [this] { markUnseen(false); });
    connect(m_configuration, &ConfigurationModel::changed, this, &TunePanel::showState);
    connect(m_journal, &JournalStore::changed, this, &TunePanel::showState);
    for (const auto signal : {&TraceDocument::traceReplaced, &TraceDocument::traceOpened})
        connect(m_document, signal, this, &TunePanel::showState);
    connect(m_jobs, &JobGuard::changed, this, [this] {
        showHeader();
        if (!m_tuning->isRunning() && m_tuning->outcome())
            m_result->showResult();
    });
}

void TunePanel::comeToFront()
{
    if (auto* dock = qobject_cast<QDockWidget*>(parentWidget())) {
        dock->show();
        dock->raise();
    }
}

void TunePanel::markUnseen(bool unseen)
{
    auto* dock = qobject_cast<QDockWidget*>(parentWidget());
    if (!dock || unseen != m_title.isEmpty())
        return;
    if (unseen) {
        m_title = dock->windowTitle();
        dock->setWindowTitle(tr("%1 · ended").arg(m_title));
    } else {
        dock->setWindowTitle(std::exchange(m_title, {}));
    }
}

void TunePanel::start()
{
    m_tuning->start(std::chrono::minutes(m_minutes->value()));
}

void TunePanel::showState()
{
    showHeader();
    const TuningService& tuning = *m_tuning;
    const QString name = tuning.origin().name;
    m_origin->setText(m_tuning->isOfDocument()
                          ? tr("Tuning of %1").arg(name)
                          : tr("Measured elsewhere: tuning of %1, not of the trace on screen").arg(name));
    if (tuning.isRunning()) {
        m_result->hide();
        if (tuning.progress())
            showProgress(*tuning.progress());
        else
            showRows({}, nullptr);
    } else if (tuning.outcome()) {
        showRows(tuning.outcome()->trials, nullptr);
        m_pages->setCurrentIndex(1);
        m_result->showResult();
    } else {
        m_pages->setCurrentIndex(0);
        const bool isProgram = !m_document->program().id.isEmpty();
        m_empty->setText(
            !tuning.trouble().isEmpty() ? (tuning.isOfProgram() ? tr("The program cannot be tuned. %1")
                                                                : tr("The training cannot be tuned. %1"))
                                              .arg(tuning.trouble())
            : isProgram
                ? tr("Tune measures the changes that the advisor proposes for the recorded program, one after "
                     "another, and keeps those that pay. Your files are not changed. The result is the gain of all "
                     "kept changes together, one diff to apply, and a report.\nChoose a time budget and press Tune. "
                     "You can stop at any time and keep the best result so far.")
                : tr("Tune measures the changes that the advisor proposes for the current configuration, one after "
                     "another, and keeps those that pay. The result is a configuration, a report, and code to "
                     "paste.\nChoose a time budget and press Tune. You can stop at any time and keep the best result "
                     "so far."));
    }
}

void TunePanel::showHeader()
{
    const TuningService& tuning = *m_tuning;
    const bool running = tuning.isRunning();
    m_start->setVisible(!running);
    const QString busy = m_jobs->whyBusy();
    m_start->setEnabled(busy.isEmpty());
    m_start->setText(tuning.result() ? tr("Tune again") : tr("Tune"));
    m_start->setToolTip(busy.isEmpty() ? tr("Measure the advisor's changes and keep those that pay") : busy);
    m_stop->setVisible(running);
    m_stop->setEnabled(!tuning.isStopping());
    m_minutes->setVisible(!running);
    m_within->setVisible(!running);
    m_spent->setVisible(running);
    if (!tuning.progress())
        m_doing->setToolTip({});
    if (tuning.isStopping())
        m_doing->setText(tr("Stopping…"));
    else if (running && !tuning.progress())
        m_doing->setText(tr("Starting…"));
    else if (!running)
        m_doing->setText(busy.isEmpty() ? QString()
                                        : tr("%1 Stop it first: running both would skew the results.").arg(busy));
    showClock();
}

void TunePanel::showClock()
{
    const TuningService& tuning = *m_tuning;
    if (!tuning.isRunning())
        return;
    const double all = static_cast<double>(tuning.budget().count());
    const double since = static_cast<double>(QDateTime::currentMSecsSinceEpoch() - m_wordAt) / 1000;
    const double spent = std::min(all, m_spentAtWord + since);
    m_spent->setRange(0, static_cast<int>(all));
    // Tuning may exceed its time budget slightly; it must not be shown as complete while it runs.
    m_spent->setValue(static_cast<int>(std::min(spent, 0.99 * all)));
    m_spent->setFormat(tr("%1 of %2 min").arg(clockText(spent), clockText(all)));
}

void TunePanel::showProgress(const advisor::TuneProgress& progress)
{
    m_spentAtWord = progress.secondsSpent;
    m_wordAt = QDateTime::currentMSecsSinceEpoch();
    QString doing = tr("Round %1 · ").arg(progress.round);
    if (progress.trying)
        doing += toggleText(*progress.trying) + " · ";
    if (!m_tuning->isStopping())
        m_doing->setText(doing + QString::fromStdString(progress.doing));
    m_doing->setToolTip(m_doing->text());
    showRows(progress.trials, progress.trying ? &progress : nullptr);
    showClock();
}

void TunePanel::showRows(const std::vector<advisor::TuneTrial>& trials, const advisor::TuneProgress* now)
{
    std::vector<EvidenceRow> rows;
    for (std::size_t i = 0; i < trials.size(); ++i)
        rows.push_back(tuneRow(trials[i], i));
    if (now)
        rows.push_back(tuneRow(*now));
    const bool none = rows.empty();
    if (none)
        m_empty->setText(m_tuning->isOfProgram()
                             ? tr("Preparing the first change. Changes appear here as they are tried.")
                             : tr("Recording a training run for the advisor. Changes appear here as they are tried."));
    m_pages->setCurrentIndex(none ? 0 : 1);
    m_table->setRows(std::move(rows));
    m_trial.reset();
    showDetail(trials.empty() ? nullptr : &trials.back());
    showChart();
}

void TunePanel::showDetail(const advisor::TuneTrial* trial)
{
    m_detail->setVisible(trial != nullptr);
    if (trial)
        m_detail->setText(trialText(*trial));
}

const std::vector<advisor::TuneTrial>* TunePanel::trials() const
{
    const TuningService& tuning = *m_tuning;
    return tuning.outcome() ? &tuning.outcome()->trials : tuning.progress() ? &tuning.progress()->trials : nullptr;
}

void TunePanel::showChart()
{
    const auto* trials = this->trials();
    m_chartChoice->setVisible(trials && !trials->empty());
    if (!trials || trials->empty())
        return;
    const QVariant choice = m_chartChoice->currentData();
    if (choice.typeId() == QMetaType::QString) {
        m_chart->show(throughputOver(choice.toString().toStdString(), *trials, m_runs->all(), m_tuning->tuned()));
        return;
    }
    const std::size_t shown = std::min(m_trial.value_or(trials->size() - 1), trials->size() - 1);
    const auto& result = (*trials)[shown].result;
    m_chart->show(lossOfArms(result ? result->losses : std::vector<advisor::LossesOfSeed>(), LossOver(choice.toInt())));
}

const advisor::TuneTrial* TunePanel::trialAt(const QString& key) const
{
    const auto* trials = this->trials();
    bool isNumber = false;
    const std::size_t number = key.toULongLong(&isNumber);
    return trials && isNumber && number < trials->size() ? &(*trials)[number] : nullptr;
}

} // namespace app
