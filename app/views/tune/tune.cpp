#include "app/views/tune/tune.h"

#include "advisor/tips.h"
#include "advisor/tuner/tune_text.h"
#include "app/charts/xy_chart.h"
#include "app/configuration/configuration_model.h"
#include "app/document/finding_text.h"
#include "app/document/trace_document.h"
#include "app/findings/loss_charts.h"
#include "app/findings/patch_box.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/save_dialog.h"
#include "app/look/theme.h"
#include "app/report/report_saver.h"
#include "app/services/job_guard.h"
#include "app/services/journal.h"
#include "app/services/run_store.h"
#include "app/services/tuning_service.h"
#include "app/tables/evidence_table.h"
#include "app/views/tune/tune_trials.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QCoreApplication>
#include <QDateTime>
#include <QDockWidget>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace app {

/// The result of tuning a training or program in one sentence, and ways to use it: apply it to the configuration or the
/// user's files, save files, copy code. Shown when there is a result.
class TuneResultBar : public QWidget {
public:
    TuneResultBar(TuningService* tuning, const ConfigurationModel* configuration, const TraceDocument* document,
                  const JobGuard* jobs, ReportSaver* reports, QWidget* parent);

    /// Shows the last tuning.
    void showResult();

protected:
    void changeEvent(QEvent* event) override;

private:
    QToolButton* makeCopyButton();
    void colourSummary();
    [[nodiscard]] bool isApplied() const;
    void saveConfiguration();
    void saveReport();
    void savePatch();
    void showProgramResult();
    void showDiff();
    [[nodiscard]] bool isBetter() const;
    void copyCode(std::string_view heading);

    TuningService* m_tuning;
    const ConfigurationModel* m_configuration;
    const TraceDocument* m_document;
    const JobGuard* m_jobs;
    ReportSaver* m_reports;
    QLabel* m_summary;
    QPushButton *m_apply, *m_saveConfiguration, *m_saveReport, *m_showDiff, *m_savePatch;
    QToolButton* m_copy;
    std::shared_ptr<const ProgramTuned> m_shown; ///< the result shown by `m_patch`
    PatchBox* m_patch = nullptr;                 ///< null if no change of a program was kept
};

namespace {

QPushButton* makeButton(const QString& name, const QString& iconStem, const QString& text, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    return button;
}

constexpr auto kMinutesKey = "tune/minutes";
constexpr int kUsualMinutes = 10;
constexpr int kMostMinutes = 24 * 60;
constexpr int kFewestRows = 4;  ///< visible rows, including the header
constexpr int kRowPadding = 10; ///< pixels around the text of a row

/// "3:05".
QString clockText(double seconds)
{
    const auto whole = static_cast<qint64>(std::max(0.0, seconds));
    return QString("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QChar('0'));
}

} // namespace

TuneResultBar::TuneResultBar(TuningService* tuning, const ConfigurationModel* configuration,
                             const TraceDocument* document, const JobGuard* jobs, ReportSaver* reports, QWidget* parent)
    : QWidget(parent), m_tuning(tuning), m_configuration(configuration), m_document(document), m_jobs(jobs),
      m_reports(reports), m_summary(new QLabel(this)), m_apply(makeButton("applyTuning", "check", tr("Apply"), this)),
      m_saveConfiguration(makeButton("saveTuned", "save", tr("Configuration…"), this)),
      m_saveReport(makeButton("saveTuneReport", "save", tr("Report…"), this)),
      m_showDiff(new QPushButton(tr("Show the diff"), this)),
      m_savePatch(makeButton("saveTunedPatch", "save", tr("Patch…"), this)), m_copy(makeCopyButton())
{
    m_summary->setObjectName("tuneSummary");
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QFont font = m_summary->font();
    font.setWeight(QFont::DemiBold);
    m_summary->setFont(font);
    m_apply->setProperty("primary", true);
    m_apply->setIcon(icon("check", QPalette::HighlightedText));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_summary);
    auto* buttons = new QHBoxLayout;
    m_showDiff->setObjectName("showTunedDiff");
    m_showDiff->setCheckable(true);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{m_apply, m_showDiff, m_saveConfiguration, m_savePatch, m_saveReport, m_copy})
        buttons->addWidget(widget);
    buttons->addStretch(1);
    layout->addLayout(buttons);
    // Buttons for a program replace those for a configuration, so that the bar stays narrow.
    m_showDiff->hide();
    m_savePatch->hide();
    m_saveConfiguration->setToolTip(tr("Save the tuned configuration"));
    m_saveReport->setToolTip(tr("Save the measurements as an HTML or PDF report"));
    m_showDiff->setToolTip(tr("Show the kept changes as one diff of your files, to apply or revert"));
    m_savePatch->setToolTip(tr("Save the diff in the format that patch and git apply read"));
    connect(m_showDiff, &QPushButton::clicked, this, &TuneResultBar::showDiff);
    connect(m_savePatch, &QPushButton::clicked, this, &TuneResultBar::savePatch);
    connect(m_apply, &QPushButton::clicked, m_tuning, &TuningService::apply);
    connect(m_saveConfiguration, &QPushButton::clicked, this, &TuneResultBar::saveConfiguration);
    connect(m_saveReport, &QPushButton::clicked, this, &TuneResultBar::saveReport);
}

QToolButton* TuneResultBar::makeCopyButton()
{
    auto* button = new QToolButton(this);
    button->setObjectName("copyTunedCode");
    button->setIcon(icon("copy"));
    button->setText(tr("Copy code"));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    auto* menu = new QMenu(button);
    menu->addAction(tr("For &PyTorch"), this, [this] { copyCode(advisor::tip_section::kPyTorch); })
        ->setObjectName("copyPython");
    menu->addAction(tr("For &LibTorch"), this, [this] { copyCode(advisor::tip_section::kLibTorch); })
        ->setObjectName("copyCpp");
    button->setMenu(menu);
    return button;
}

bool TuneResultBar::isApplied() const
{
    const advisor::TuneResult& result = *m_tuning->result();
    const auto found = config::difference(result.start, result.best);
    return std::all_of(found.begin(), found.end(), [&](const config::Difference& setting) {
        return m_configuration->get().text(setting.key) == setting.b;
    });
}

/// True if changes were kept.
bool TuneResultBar::isBetter() const
{
    const TuningService& tuning = *m_tuning;
    if (tuning.programResult())
        return !tuning.programResult()->result.kept.empty();
    return tuning.result() && !(tuning.result()->start == tuning.result()->best);
}

void TuneResultBar::showResult()
{
    const TuningService& tuning = *m_tuning;
    show();
    const advisor::TuneOutcome& outcome = *tuning.outcome();
    m_summary->setText(QString::fromStdString(advisor::tuneSummary(outcome) + ' ' + outcome.why.text));
    colourSummary();
    showProgramResult();
    if (!tuning.result()) {
        for (QWidget* widget : std::initializer_list<QWidget*>{m_apply, m_saveConfiguration, m_copy})
            widget->hide();
        return;
    }
    const advisor::TuneResult& result = *tuning.result();
    const bool better = isBetter();
    m_apply->setVisible(better);
    m_apply->setEnabled(better && !isApplied() && !m_jobs->isBusy());
    m_apply->setText(better && isApplied() ? tr("Applied") : tr("Apply"));
    m_apply->setToolTip(m_jobs->isBusy() ? m_jobs->whyBusy()
                                         : tr("Apply the tuned settings to the configuration. Undo reverts them."));
    m_saveConfiguration->setVisible(better);
    m_copy->setVisible(better);
    m_copy->setEnabled(!advisor::codeToPaste(result).empty());
}

/// The diff of the kept changes of a program, and its buttons.
void TuneResultBar::showProgramResult()
{
    const std::shared_ptr<const ProgramTuned> tuned = m_tuning->programResult();
    if (tuned != m_shown) {
        delete std::exchange(m_patch, nullptr);
        m_shown = tuned;
        m_showDiff->setChecked(false);
        if (tuned && isBetter()) {
            std::vector<advisor::change::WantedChange> changes;
            for (const advisor::Toggle& change : tuned->result.kept)
                changes.push_back({change.key, change.to});
            m_patch = new PatchBox(tuned->what.trace, std::move(changes), this);
            m_patch->hide();
            connect(m_patch, &PatchBox::filesChanged, m_document, &TraceDocument::programFilesChanged);
            connect(m_document, &TraceDocument::programFilesChanged, m_patch, &PatchBox::reload);
            layout()->addWidget(m_patch);
        }
    }
    m_showDiff->setVisible(m_patch != nullptr);
    m_savePatch->setVisible(m_patch && !tuned->result.patch.diff.empty());
}

void TuneResultBar::showDiff()
{
    if (m_patch)
        m_patch->setVisible(m_showDiff->isChecked());
}

void TuneResultBar::colourSummary()
{
    const advisor::TuneOutcome* outcome = m_tuning->outcome();
    if (outcome && advisor::isShownFaster(*outcome))
        setTextColor(m_summary, shades(QApplication::palette()).good);
    else
        m_summary->setPalette(QPalette());
}

void TuneResultBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_summary)
        colourSummary();
}

void TuneResultBar::saveConfiguration()
{
    if (const QString file = askWhereToSave(this, tr("Save the tuned configuration"), "tuned.json",
                                            {{tr("Configuration (*.json)"), ".json"}});
        !file.isEmpty())
        m_tuning->saveConfiguration(file.toStdString());
}

void TuneResultBar::savePatch()
{
    if (const QString file =
            askWhereToSave(this, tr("Save patch"), "changes.patch", {{tr("Patch (*.patch)"), ".patch"}});
        !file.isEmpty())
        m_tuning->savePatch(file.toStdString());
}

void TuneResultBar::saveReport()
{
    if (const QString file = askForReportFile(this, tr("Save report"), "tuning.html"); !file.isEmpty())
        m_reports->saveTuneReport(file.toStdString());
}

void TuneResultBar::copyCode(std::string_view heading)
{
    QApplication::clipboard()->setText(QString::fromStdString(advisor::codeText(*m_tuning->result(), heading)));
}

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

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new TunePanel(&bench.tuning, &bench.configuration, &bench.document, &bench.journal, &bench.jobs,
                         &bench.reports, &bench.runs, parent);
}

} // namespace

View tune()
{
    return {QCoreApplication::translate("views", "Tune"), ViewArea::Bottom, 5, create};
}

} // namespace app::views
