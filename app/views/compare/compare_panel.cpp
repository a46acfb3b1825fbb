#include "app/views/compare/compare_panel.h"

#include "app/document/analyser.h"
#include "app/document/samples.h"
#include "app/document/trace_document.h"
#include "app/document/trace_pair.h"
#include "app/findings/loss_charts.h"
#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/look/short_name.h"
#include "app/look/text_label.h"
#include "app/look/theme.h"
#include "app/services/run_store.h"
#include "app/tables/evidence_table.h"
#include "app/views/compare/distribution_chart.h"
#include "profiler/formats/format.h"

#include <QApplication>
#include <QComboBox>
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

namespace app {

using advisor::Difference;

namespace {

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
