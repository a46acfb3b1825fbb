#include "app/views/compare/compare.h"

#include "app/document/analyser.h"
#include "app/document/step_parts.h"
#include "app/document/trace_document.h"
#include "app/document/trace_files.h"
#include "app/document/trace_pair.h"
#include "app/findings/loss_charts.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/look/theme.h"
#include "app/services/run_store.h"
#include "app/tables/evidence_table.h"
#include "app/views/compare/distribution_chart.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "profiler/analysis/operators/op_costs.h"
#include "profiler/formats/format.h"

#include <QApplication>
#include <QComboBox>
#include <QCoreApplication>
#include <QDockWidget>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <map>

namespace app {

namespace analysis = profiler::analysis;
using advisor::Difference;
using profiler::ActivityKind;

/// A comparison of the trace on screen (b) with another (a).
struct Comparison {
    /// An item whose time per step differs.
    struct Moved {
        QString what; ///< "phase", "operator", "kernel"
        QString name;
        double aUs = 0, bUs = 0; ///< per step; for the whole trace if a trace has no steps
        SliceClass swatch = SliceClass::Other;
    };
    advisor::Difference difference;
    std::vector<double> aStepsUs, bStepsUs; ///< durations of the steps that the statistic covers, in order
    std::vector<Moved> moved;               ///< largest change first
};

namespace {

constexpr std::size_t kMostRows = 200;

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Comparison)
};

std::vector<double> durationsUs(const std::vector<analysis::Step>& steps, bool steadyOnly)
{
    std::vector<double> us;
    for (const analysis::Step& step : steps)
        if (steadyOnly ? isSteady(step) : !step.partial)
            us.push_back(static_cast<double>(step.range.duration().count()) / 1000);
    return us;
}

void addPhases(Comparison& to, const std::vector<analysis::Step>& a, const std::vector<analysis::Step>& b)
{
    const auto inA = analysis::stepStatistics(a), inB = analysis::stepStatistics(b);
    if (inA.steadyCount == 0 || inB.steadyCount == 0)
        return;
    for (const StepPart& part : kStepParts)
        to.moved.push_back({Texts::tr("phase"), stepPartName(part),
                            static_cast<double>((inA.steadyMeanParts.*part.time).count()) / 1000,
                            static_cast<double>((inB.steadyMeanParts.*part.time).count()) / 1000, part.which});
}

/// Self times; an operator that occurs in several phases counts as one.
void addOps(Comparison& to, const analysis::OpCosts& a, const analysis::OpCosts& b)
{
    if (a.stepsWithOps == 0 || b.stepsWithOps == 0)
        return;
    std::map<std::string, std::pair<double, double>> us;
    for (const analysis::OpCost& op : a.ops)
        us[op.name].first += op.selfUsPerStep;
    for (const analysis::OpCost& op : b.ops)
        us[op.name].second += op.selfUsPerStep;
    for (const auto& [name, both] : us)
        to.moved.push_back({Texts::tr("operator"), QString::fromStdString(name), both.first, both.second,
                            classify(ActivityKind::CpuOp, name)});
}

/// Makes several passes over both traces; do not call on the GUI thread.
/// @param stop  once requested, the remaining passes are skipped and the result must be discarded
Comparison compareTraces(const profiler::Trace& a, const profiler::Trace& b, const std::vector<analysis::Step>& stepsA,
                         const std::vector<analysis::Step>& stepsB, const std::stop_token& stop)
{
    Comparison compared;
    compared.difference = advisor::difference(a, b, stepsA, stepsB);
    if (stop.stop_requested())
        return compared;
    const bool steadyOnly = !compared.difference.statistic || compared.difference.statistic->steady;
    compared.aStepsUs = durationsUs(stepsA, steadyOnly);
    compared.bStepsUs = durationsUs(stepsB, steadyOnly);
    addPhases(compared, stepsA, stepsB);
    const analysis::OpCosts opsA = analysis::opCosts(a, stepsA);
    if (stop.stop_requested())
        return compared;
    addOps(compared, opsA, analysis::opCosts(b, stepsB));
    for (const advisor::Difference::Kernel& kernel : compared.difference.kernels)
        compared.moved.push_back({Texts::tr("kernel"), QString::fromStdString(kernel.name), kernel.aUs, kernel.bUs,
                                  classify(ActivityKind::Kernel, kernel.name)});
    std::erase_if(compared.moved, [](const auto& row) { return row.aUs == 0 && row.bUs == 0; });
    std::stable_sort(compared.moved.begin(), compared.moved.end(),
                     [](const auto& x, const auto& y) { return std::abs(x.aUs - x.bUs) > std::abs(y.aUs - y.bUs); });
    compared.moved.resize(std::min(compared.moved.size(), kMostRows));
    return compared;
}

QString nameOf(const RunRecord& run)
{
    return QLocale().toString(run.started, "d MMM HH:mm") + "  ·  " + asQString(run.configuration.text("workload"));
}

EvidenceRow rowOf(const Comparison::Moved& moved)
{
    const double change = moved.bUs - moved.aUs;
    const QString sign = change < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
    EvidenceRow row;
    const auto cell = [](double us) { return EvidenceCell{us > 0 ? formatUs(us) : QStringLiteral("–"), us}; };
    row.cells = {{QString("%1  ·  %2").arg(shortKernelName(moved.name.toStdString()), moved.what), 0,
                  QString("%1  ·  %2").arg(moved.name, moved.what)},
                 cell(moved.aUs),
                 cell(moved.bUs),
                 {sign + formatUs(std::abs(change)), change}};
    row.swatch = moved.swatch;
    return row;
}

/// Previews of a file that is being read are not analysed, so they are not compared.
bool isWhole(const TraceDocument& document)
{
    return document.analysed() && document.analysed()->trace == document.trace();
}

} // namespace

ComparePanel::ComparePanel(TraceDocument* document, const RunStore* runs, TracePair* pair, QWidget* parent)
    : QWidget(parent), m_document(document), m_runs(runs), m_pair(pair), m_work(this), m_pages(new QStackedWidget(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    m_empty = makeEmptyLabel("compareEmpty", m_pages);
    m_pages->addWidget(m_empty);
    m_pages->addWidget(makePage());
    layout->addWidget(m_pages, 1);
    // Only the page on screen needs its space: otherwise, the empty page could be scrolled.
    const auto fitToPage = [this] {
        for (int i = 0; i < m_pages->count(); ++i) {
            const auto vertical = i == m_pages->currentIndex() ? QSizePolicy::Preferred : QSizePolicy::Ignored;
            m_pages->widget(i)->setSizePolicy(QSizePolicy::Preferred, vertical);
        }
    };
    connect(m_pages, &QStackedWidget::currentChanged, this, fitToPage);
    fitToPage();
    connectServices();
    listRuns();
    showState();
}

QWidget* ComparePanel::makeHeader()
{
    auto* header = new QWidget(this);
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(8, 3, 6, 3);
    auto* label = new QLabel(tr("Compare with"), header);
    m_choice = new QComboBox(header);
    m_choice->setObjectName("compareWith");
    m_choice->setAccessibleName(tr("Run or file to compare this trace with"));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_choice->setMinimumContentsLength(18);
    m_choice->setPlaceholderText(tr("Choose a run or a file"));
    label->setBuddy(m_choice);
    m_progress = new QProgressBar(header);
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(90, 8);
    m_cancel = new QToolButton(header);
    m_cancel->setIcon(icon("close"));
    m_cancel->setAutoRaise(true);
    m_cancel->setToolTip(tr("Cancel"));
    m_cancel->setAccessibleName(tr("Cancel the comparison"));
    m_beside = new QToolButton(header);
    m_beside->setObjectName("showBeside");
    m_beside->setIcon(icon("side_by_side"));
    m_beside->setText(tr("Side by side"));
    m_beside->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_beside->setAutoRaise(true);
    m_beside->setToolTip(tr("Show both traces on one time axis, with what differs in each step"));
    layout->addWidget(label);
    m_chartChoice = new QComboBox(header);
    m_chartChoice->setObjectName("compareChartOf");
    m_chartChoice->setAccessibleName(tr("What the chart shows"));
    m_chartChoice->setToolTip(m_chartChoice->accessibleName());
    m_chartChoice->hide();
    layout->addWidget(m_choice, 1);
    layout->addWidget(m_beside);
    layout->addWidget(m_chartChoice);
    layout->addWidget(m_progress);
    layout->addWidget(m_cancel);
    layout->addStretch(1);
    setFocusProxy(m_choice);
    connect(m_choice, &QComboBox::activated, this, &ComparePanel::choose);
    connect(m_chartChoice, &QComboBox::activated, this, &ComparePanel::showChart);
    connect(m_beside, &QToolButton::clicked, this, [this] { m_pair->open(m_file); });
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        m_work.cancel();
        m_busy = false;
        m_file.clear();
        m_document->setCompared(nullptr);
        m_choice->setCurrentIndex(-1);
        showState();
    });
    return header;
}

QWidget* ComparePanel::makePage()
{
    auto* page = new QWidget(m_pages);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(10, 4, 10, 6);
    layout->setSpacing(4);
    m_verdict = makeTextLabel("compareVerdict", page);
    QFont font = m_verdict->font();
    font.setWeight(QFont::DemiBold);
    m_verdict->setFont(font);
    m_why = makeTextLabel("compareWhy", page);
    m_why->setForegroundRole(QPalette::PlaceholderText);
    auto* sides = new QSplitter(Qt::Horizontal, page);
    sides->setChildrenCollapsible(false);
    m_charts = new QStackedWidget(sides);
    m_chart = new DistributionChart(m_charts);
    m_chart->setObjectName("compareChart");
    m_loss = new XyChart(QStringLiteral("loss"), m_charts);
    m_loss->setObjectName("compareLoss");
    m_charts->addWidget(m_chart);
    m_charts->addWidget(m_loss);
    m_table = new EvidenceTable(
        {{tr("What changed"), false}, {tr("Other"), true}, {tr("This run"), true}, {tr("Change"), true}},
        tr("Changes in the time per step"), sides);
    m_table->setObjectName("compareTable");
    sides->addWidget(m_charts);
    sides->addWidget(m_table);
    sides->setStretchFactor(0, 1);
    sides->setStretchFactor(1, 2);
    sides->setSizes({100, 300}); // names need the space
    layout->addWidget(m_verdict);
    layout->addWidget(m_why);
    layout->addWidget(sides, 1);
    return page;
}

void ComparePanel::connectServices()
{
    connect(&m_front, &VisibilityWatcher::cameToFront, this, [this] {
        if (m_dirty)
            start();
    });
    connect(m_runs, &RunStore::comparisonWanted, this, [this](const RunRecord& run) {
        compareWith(run.trace(), nameOf(run));
        comeToFront();
    });
    connect(m_runs, &RunStore::changed, this, &ComparePanel::listRuns);
    connect(m_document, &TraceDocument::traceReplaced, this, [this] {
        m_work.cancel();
        m_busy = false;
        listRuns();
        request();
    });
    connect(m_document, &TraceDocument::analysedChanged, this, &ComparePanel::request); // a trace that is complete
}

void ComparePanel::comeToFront()
{
    if (auto* dock = qobject_cast<QDockWidget*>(parentWidget())) {
        dock->show();
        dock->raise();
    }
}

void ComparePanel::listRuns()
{
    m_choice->clear();
    for (const RunRecord& run : m_runs->all()) {
        if (run.trace() == m_document->path() || run.isRunning())
            continue;
        m_choice->addItem(nameOf(run), asQString(run.trace().string()));
    }
    if (isSampleFile(m_document->path()))
        for (const Sample& sample : allSamples())
            if (const auto file = sampleFile(sample); file && !sample.isJob && *file != m_document->path())
                m_choice->addItem(sample.title, asQString(file->string()));
    m_choice->addItem(icon("open"), tr("File…"));
    const bool isRun = m_choice->findData(asQString(m_file.string())) >= 0;
    if (!m_file.empty() && !isRun)
        m_choice->insertItem(0, m_name, asQString(m_file.string()));
    m_choice->setCurrentIndex(m_file.empty() ? -1 : m_choice->findData(asQString(m_file.string())));
}

void ComparePanel::choose(int entry)
{
    const QString file = m_choice->itemData(entry).toString();
    if (file.isEmpty())
        chooseFile();
    else
        compareWith(file.toStdString(), m_choice->itemText(entry));
}

void ComparePanel::chooseFile()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Compare with trace"));
    if (file.isEmpty())
        listRuns(); // shows the chosen run
    else
        compareWith(file.toStdString(), QFileInfo(file).fileName());
}

void ComparePanel::compareWith(const std::filesystem::path& file, const QString& name)
{
    m_file = file;
    m_name = name;
    m_other.reset();
    m_document->setCompared(nullptr);
    listRuns();
    request();
}

void ComparePanel::request()
{
    m_dirty = true;
    if (m_front.isInFront())
        start();
    else
        showState();
}

void ComparePanel::start()
{
    const auto trace = m_document->trace();
    if (m_file.empty() || trace->sliceCount() == 0 || trace->captureStats().live || !isWhole(*m_document)) {
        showState();
        return;
    }
    m_dirty = false;
    m_busy = true;
    m_progress->setValue(0);
    m_work.start(
        [this, analysed = m_document->analysed(), file = m_file, other = m_other](const std::stop_token& stop,
                                                                                  const Background::Post& post) {
            std::shared_ptr<const profiler::Trace> a = other;
            if (!a) {
                profiler::formats::ReadOptions options;
                options.stop = stop;
                options.progress = [&](double share) {
                    post([this, share] { m_progress->setValue(static_cast<int>(900 * share)); });
                };
                auto opened = profiler::formats::openTrace(file, options);
                if (!opened) {
                    post([this, error = opened.error()] { fail(error); });
                    return;
                }
                a = *opened;
            }
            if (stop.stop_requested())
                return;
            // Both traces use the same kind of steps: those of all other views.
            const auto steps = stepsOf(*a, analysed->source).steps;
            if (stop.stop_requested())
                return;
            auto compared = std::make_shared<const Comparison>(
                compareTraces(*a, *analysed->trace, steps, analysed->facts.steps, stop));
            auto losses = std::make_shared<const std::array<TraceLoss, 2>>(
                std::array{lossOfTrace(*a, steps), lossOfTrace(*analysed->trace, analysed->facts.steps)});
            post([this, a, steps, compared, losses] {
                m_other = a;
                m_losses = losses;
                m_document->setCompared(std::make_shared<const ComparedTrace>(ComparedTrace{a, steps, m_name}));
                take(*compared);
            });
        },
        [this](const profiler::Error& error) { fail(error); });
    showState();
}

void ComparePanel::fail(const profiler::Error& error)
{
    m_busy = false;
    m_file.clear();
    m_document->setCompared(nullptr);
    listRuns();
    showState();
    m_empty->setText(tr("%1 cannot be opened: %2").arg(m_name, asQString(error.message())));
}

void ComparePanel::showState()
{
    m_progress->setVisible(m_busy);
    m_cancel->setVisible(m_busy);
    m_beside->setEnabled(!m_file.empty() && m_document->trace()->sliceCount() > 0);
    m_pages->setCurrentIndex(0);
    m_chartChoice->hide();
    const auto trace = m_document->trace();
    m_empty->setText(
        trace->sliceCount() == 0     ? tr("Open a trace or a run first, then choose another one to compare it with.")
        : trace->captureStats().live ? tr("The training is still running. The comparison starts when its trace is "
                                          "complete.")
        : m_busy                     ? tr("Comparing…")
        : m_file.empty() ? tr("Choose a run or a file above to compare this trace with. The comparison shows the "
                              "step times and what changed.")
                         : tr("The trace is still loading. The comparison starts when it is complete."));
}

void ComparePanel::take(const Comparison& compared)
{
    m_busy = false;
    showState();
    m_pages->setCurrentIndex(1);
    showVerdict(compared);
    m_chart->show({m_name, compared.aStepsUs}, {tr("this run: %1").arg(m_document->title()), compared.bStepsUs});
    listCharts();
    std::vector<EvidenceRow> rows;
    for (const Comparison::Moved& moved : compared.moved)
        rows.push_back(rowOf(moved));
    m_table->setRows(std::move(rows));
}

/// The losses can be compared over samples if both traces have a configuration.
void ComparePanel::listCharts()
{
    const QVariant chosen = m_chartChoice->currentData();
    const auto& [other, shown] = *m_losses;
    const bool any = !other.points.empty() || !shown.points.empty();
    m_chartChoice->clear();
    m_chartChoice->addItem(tr("Step times"));
    if (any) {
        m_chartChoice->addItem(tr("Loss over time"), int(LossOver::Time));
        if (other.samplesPerStep > 0 && shown.samplesPerStep > 0)
            m_chartChoice->addItem(tr("Loss over samples"), int(LossOver::Samples));
        m_chartChoice->addItem(tr("Loss over steps"), int(LossOver::StepCount));
    }
    m_chartChoice->setCurrentIndex(std::max(0, chosen.isValid() ? m_chartChoice->findData(chosen) : 0));
    m_chartChoice->setVisible(any);
    showChart();
}

void ComparePanel::showChart()
{
    const QVariant over = m_chartChoice->currentData();
    m_charts->setCurrentIndex(over.isValid() ? 1 : 0);
    if (!over.isValid() || !m_losses)
        return;
    std::array<TraceLoss, 2> losses = *m_losses;
    losses[0].name = m_name;
    losses[1].name = tr("this run: %1").arg(m_document->title());
    m_loss->show(lossOfTraces(losses[0], losses[1], LossOver(over.toInt())));
}

void ComparePanel::showVerdict(const Comparison& compared)
{
    const Difference& difference = compared.difference;
    m_verdict->setText(
        asQString(advisor::headline(difference, tr("This run").toStdString(), m_name.toStdString()).text));
    m_shown = difference.verdict;
    colourVerdict();
    QStringList why;
    for (const profiler::Message& reason : difference.whyNot)
        why << asQString(reason.text);
    if (const profiler::Message statistic = advisor::basis(difference); !statistic.empty())
        why << asQString(statistic.text);
    for (const profiler::Message& note : difference.notes)
        why << asQString(note.text);
    if (difference.verdict == Difference::Verdict::Faster || difference.verdict == Difference::Verdict::Slower)
        why << tr("These are two single runs. Measure the change for a reliable result.");
    if (const QString settings = settingsThatDiffer(); !settings.isEmpty())
        why << settings;
    m_why->setText(why.join(' '));
}

void ComparePanel::colourVerdict()
{
    const Shades tones = shades(QApplication::palette());
    switch (m_shown) {
    case Difference::Verdict::Faster:
        setTextColor(m_verdict, tones.good);
        break;
    case Difference::Verdict::Slower:
        setTextColor(m_verdict, tones.bad);
        break;
    case Difference::Verdict::NotComparable:
        setTextColor(m_verdict, tones.warning);
        break;
    case Difference::Verdict::NotShown:
        m_verdict->setPalette(QPalette());
        break;
    }
}

void ComparePanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_verdict)
        colourVerdict();
}

QString ComparePanel::settingsThatDiffer() const
{
    const auto entry = m_other->metadata().find("config");
    const auto& mine = m_document->configuration();
    if (entry == m_other->metadata().end() || !mine)
        return {};
    const auto other = config::TrainingConfig::fromJson(entry->second);
    if (!other)
        return {};
    QStringList changes;
    for (const config::Difference& change : config::difference(*other, *mine)) {
        const std::string_view label = config::findKnob(change.key)->label;
        changes << QString("%1 %2 → %3").arg(asQString(label), asQString(change.a), asQString(change.b));
    }
    return changes.isEmpty() ? tr("The settings are the same.") : tr("Settings: %1.").arg(changes.join(", "));
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new ComparePanel(&bench.document, &bench.runs, &bench.pair, parent);
}

} // namespace

View compare()
{
    return {QCoreApplication::translate("views", "Compare"), ViewArea::Bottom, 90, create};
}

} // namespace app::views
