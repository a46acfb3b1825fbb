#include "app/views/summary/summary.h"

#include "app/charts/compact_bars.h"
#include "app/charts/step_charts.h"
#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/views/summary/summary_sections.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "profiler/analysis/steps/device_steps.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace analysis = profiler::analysis;

namespace {

constexpr std::size_t kTopOps = 15;

QLabel* heading(const QString& text, QWidget* parent, double size = 1.0)
{
    auto* label = new QLabel(text, parent);
    QFont font = label->font();
    font.setBold(true);
    font.setPointSizeF(font.pointSizeF() * size);
    label->setFont(font);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QLabel* note(QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setForegroundRole(QPalette::PlaceholderText);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

double ns(profiler::Nanoseconds time)
{
    return static_cast<double>(time.count());
}

} // namespace

SummaryPanel::SummaryPanel(Selection* selection, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_pages(new QStackedWidget(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_choice = new QLabel(this);
    m_choice->setObjectName("stepChoice");
    m_choice->setWordWrap(true);
    m_choice->setContentsMargins(14, 8, 14, 0);
    m_choice->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    m_choice->hide();
    connect(m_choice, &QLabel::linkActivated, this, &SummaryPanel::takeChoice);
    column->addWidget(m_choice);
    column->addWidget(m_pages, 1);
    m_empty = note(m_pages);
    m_empty->setObjectName("summaryEmpty");
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setMargin(16);
    m_pages->addWidget(m_empty);
    setAnalysing(false);
    m_pages->addWidget(makePage());
    setAccessibleName(tr("Summary"));
}

QWidget* SummaryPanel::makePage()
{
    auto* scroll = new QScrollArea(m_pages);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto* content = new QWidget(scroll);
    auto* page = new QVBoxLayout(content);
    page->setContentsMargins(14, 10, 14, 12);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(24);
    columns->addWidget(makeStepColumn(content), 1);
    columns->addWidget(makeCostColumn(content), 1);
    page->addLayout(columns);
    page->addWidget(m_look = new DetailedAnalysisSummary(content));
    page->addStretch(1); // a tall window must not spread them
    connect(m_look, &DetailedAnalysisSummary::evidenceChosen, this, &SummaryPanel::follow);
    scroll->setWidget(content);
    return scroll;
}

QWidget* SummaryPanel::makeStepColumn(QWidget* parent)
{
    auto* side = new QWidget(parent);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(m_headline = heading({}, side, 1.25));
    m_headline->setObjectName("headline");
    column->addWidget(m_statistics = note(side));
    m_statistics->setObjectName("statistics");
    m_rankRow = new QWidget(side);
    auto* choice = new QHBoxLayout(m_rankRow);
    choice->setContentsMargins(0, 0, 0, 0);
    auto* rankLabel = new QLabel(tr("&Rank shown:"), m_rankRow);
    m_rankChoice = new QComboBox(m_rankRow);
    m_rankChoice->setObjectName("rankChoice");
    m_rankChoice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_rankChoice->setToolTip(tr("The summary, the step tables and the advisor describe this rank"));
    rankLabel->setBuddy(m_rankChoice);
    choice->addWidget(rankLabel);
    choice->addWidget(m_rankChoice);
    choice->addStretch(1);
    connect(m_rankChoice, &QComboBox::activated, this, [this](int index) {
        const QVariant number = m_rankChoice->itemData(index);
        emit rankWanted(number.isValid() ? std::optional<std::int64_t>(number.toLongLong()) : std::nullopt);
    });
    column->addWidget(m_rankRow);
    m_ranks =
        new EvidenceTable({{tr("Rank"), true}, {tr("Process"), false}, {tr("Steps"), true}, {tr("Steady step"), true}},
                          tr("Steps of each rank"), side);
    m_ranks->setObjectName("ranks");
    m_ranks->setFitsRows(true);
    column->addWidget(m_ranks);
    column->addSpacing(4);
    m_stepParts = new QWidget(side);
    auto* parts = new QVBoxLayout(m_stepParts);
    parts->setContentsMargins(0, 0, 0, 0);
    parts->setSpacing(6);
    parts->addWidget(m_bar = new PartsBar(m_stepParts));
    m_parts = new EvidenceTable({{tr("Part of a steady step"), false}, {tr("Time"), true}, {tr("Share"), true}},
                                tr("Parts of a steady step"), side);
    m_parts->setObjectName("parts");
    m_parts->setFitsRows(true);
    parts->addWidget(m_parts);
    parts->addSpacing(8);
    parts->addWidget(heading(tr("Loader"), m_stepParts));
    parts->addWidget(m_loaderText = note(m_stepParts));
    m_loaderText->setObjectName("loader");
    m_stages = new EvidenceTable({{tr("Stage"), false}, {tr("Per batch"), true}, {tr("Share"), true}},
                                 tr("Loader stages"), side);
    m_stages->setObjectName("stages");
    m_stages->setFitsRows(true);
    parts->addWidget(m_stages);
    column->addWidget(m_stepParts);
    column->addWidget(m_memory = new MemorySummary(side));
    column->addStretch(1);
    connect(m_memory, &MemorySummary::evidenceChosen, this, &SummaryPanel::follow);
    connect(m_parts, &EvidenceTable::rowActivated, this, [this](const EvidenceRow& row) {
        for (const StepPart& part : kStepParts)
            if (row.key == QString::fromLatin1(part.name))
                follow(evidenceOf(*m_trace, m_facts->steps, part));
    });
    connect(m_stages, &EvidenceTable::rowActivated, this, [this](const EvidenceRow& row) {
        follow(evidenceOfStage(*m_trace, m_facts->steps, row.key.toStdString()));
    });
    connect(m_bar, &PartsBar::partChosen, this, [this](int part) {
        follow(evidenceOf(*m_trace, m_facts->steps, kStepParts[m_barParts[static_cast<std::size_t>(part)]]));
    });
    return side;
}

QWidget* SummaryPanel::makeCostColumn(QWidget* parent)
{
    auto* side = new QWidget(parent);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    column->addWidget(m_devices = new DeviceSummary(side));
    column->addWidget(m_chartHead = heading(tr("Step times over the run"), side));
    column->addWidget(m_chart = new StepTimesChart(side));
    column->addSpacing(8);
    column->addWidget(heading(tr("Top operators"), side));
    column->addWidget(m_opsText = note(side));
    m_ops = new EvidenceTable(
        {{tr("Operator"), false}, {tr("Phase"), false}, {tr("Self time per step"), true}, {tr("Calls per step"), true}},
        tr("Top operators"), side);
    m_ops->setObjectName("ops");
    m_ops->setFitsRows(true);
    column->addWidget(m_ops);
    column->addStretch(1);
    connect(m_devices, &DeviceSummary::evidenceChosen, this, &SummaryPanel::follow);
    connect(m_chart, &StepTimesChart::stepChosen, this, &SummaryPanel::followStep);
    connect(m_ops, &EvidenceTable::rowActivated, this, [this](const EvidenceRow& row) { follow(row.evidence); });
    return side;
}

void SummaryPanel::setAnalysing(bool analysing, const QString& whyNot)
{
    const bool complete = m_trace && m_trace->sliceCount() > 0 && !m_trace->captureStats().live;
    m_empty->setText(!whyNot.isEmpty() ? tr("The trace was not analysed: %1").arg(whyNot)
                     : analysing       ? tr("Analysing the trace…")
                     : complete
                         ? tr("The trace has no steps to summarize.\nThe timeline and the other panels show what it "
                              "contains.")
                         : tr("No complete step yet.\nA summary appears as soon as the trace contains some steps: "
                              "where their time goes, and what could be faster."));
}

void SummaryPanel::show(std::shared_ptr<const profiler::Trace> trace, std::shared_ptr<const analysis::Facts> facts,
                        std::shared_ptr<const TraceSummary> summary)
{
    m_trace = std::move(trace);
    m_facts = std::move(facts);
    m_summary = std::move(summary);
    showChoice();
    const bool devices = m_summary && !m_summary->devices.empty();
    const bool any = m_trace && m_facts && (m_facts->statistics.steadyCount > 0 || devices);
    m_pages->setCurrentIndex(any ? 1 : 0);
    m_look->show(any ? m_trace : nullptr, m_facts);
    if (!any)
        return;
    showStatistics();
    showRanks();
    showDevices();
    m_memory->show(analysis::memoryMoments(*m_trace), m_facts->steps);
    showParts();
    showLoader();
    showOps();
}

void SummaryPanel::showChoice()
{
    const bool any = m_trace && m_facts && m_trace->sliceCount() > 0;
    const bool live = any && m_trace->captureStats().live;
    const std::int64_t steps = any ? m_facts->statistics.count : 0;
    const bool found = steps > 0 && m_facts->steps.front().found;
    const QString range = any && m_summary ? m_summary->stepRange : QString();
    const bool onDevice = any && analysis::areMeasuredOnDevice(m_facts->steps);
    m_choice->setVisible(any && (live ? steps > 0 : found || onDevice || !range.isEmpty() || steps == 0));
    if (live) // long runs are analysed as a whole only occasionally
        m_choice->setText(tr("Based on the first %1; updated for the whole run when it "
                             "ends.")
                              .arg(formatCounted(steps, tr("step"), tr("steps"))));
    else if (!range.isEmpty())
        m_choice->setText(tr("Each range “%1” is used as a step. <a href=\"leave\">Remove these steps</a>")
                              .arg(range.toHtmlEscaped()));
    else if (found)
        m_choice->setText(tr("This trace has no step marks; these steps were inferred from repeated work. <a "
                             "href=\"leave\">Remove these steps</a>"));
    else if (steps > 0)
        m_choice->clear();
    else
        m_choice->setText((m_summary && m_summary->stepsRemoved
                               ? tr("This trace has no step marks. <a href=\"find\">Infer steps from repeated work</a>")
                               : tr("This trace has no step marks, and no steps were inferred from repeated work. "
                                    "<a href=\"find\">Why?</a>")) +
                          (m_summary && !m_summary->ranges.isEmpty()
                               ? tr(", or <a href=\"range\">use a range as steps…</a>")
                               : QString()));
    if (onDevice)
        m_choice->setText((m_choice->text() + u' ' +
                           tr("The CPU launched these steps long before the GPU ran them: their times are those of the "
                              "GPU."))
                              .trimmed());
}

void SummaryPanel::takeChoice(const QString& link)
{
    if (link != "range") {
        emit stepsByRepetitionWanted(link == "find");
        return;
    }
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName("stepRange");
    dialog->setWindowTitle(tr("Steps from a range"));
    dialog->setLabelText(tr("Each range of this name is a step:"));
    dialog->setComboBoxItems(m_summary->ranges);
    connect(dialog, &QInputDialog::textValueSelected, this, &SummaryPanel::stepRangeWanted);
    dialog->open();
}

void SummaryPanel::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m_choice)
        return;
    m_choice->clear(); // a link keeps its original colour
    showChoice();
}

void SummaryPanel::showStatistics()
{
    const analysis::StepStatistics& s = m_facts->statistics;
    const bool steady = s.steadyCount > 0;
    m_headline->setText(steady        ? tr("A steady step takes %1").arg(formatUs(s.steadyMeanUs))
                        : s.count > 0 ? tr("A step takes %1; there are no steady steps").arg(formatUs(s.meanUs))
                                      : tr("This trace has no steps"));
    m_stepParts->setVisible(steady);
    m_chart->setVisible(s.count > 0);
    m_chartHead->setVisible(s.count > 0);
    m_chart->setSteps(m_facts->steps, s.medianUs);
    if (s.count == 0) {
        m_statistics->setText(tr("Call torch.profiler's step(), or put an NVTX range around each step, to see step "
                                 "times and their parts here."));
        return;
    }
    QString text =
        s.count == 1
            ? tr("There is only one step, so the variation between steps is unknown.")
            : tr("%1, %2 of them steady · all steps: mean %3, median %4, 90th percentile %5, range %6 to %7")
                  .arg(formatCounted(s.count, tr("step"), tr("steps")), formatCount(s.steadyCount), formatUs(s.meanUs),
                       formatUs(s.medianUs), formatUs(s.p90Us), formatUs(s.minUs), formatUs(s.maxUs));
    if (m_facts->rank)
        text += (m_facts->rank->chosen ? tr(" · rank %1 (%2) of %3") : tr(" · rank %1 (%2), the slowest of %3"))
                    .arg(m_facts->rank->number)
                    .arg(asQString(m_facts->rank->name))
                    .arg(m_facts->rank->of);
    const analysis::BetweenSteps& between = m_facts->between;
    if (between.share() >= analysis::kLeastBetweenSteps) {
        QStringList parts;
        for (const auto& phase : between.phases)
            parts << tr("%1 %2").arg(asQString(phase.name), formatUs(analysis::toUs(phase.time)));
        if (between.other.count() > 0 && !parts.isEmpty())
            parts << tr("other %1").arg(formatUs(analysis::toUs(between.other)));
        text += tr("\nBetween the steps: %1 of %2 (%3)")
                    .arg(formatUs(analysis::toUs(between.time)), formatUs(analysis::toUs(between.span)),
                         formatShare(between.share()));
        if (!parts.isEmpty())
            text += QStringLiteral(": ") + parts.join(QStringLiteral(", "));
    }
    m_statistics->setText(withUnitsKept(text));
}

/// The page shows one rank; this table compares it with the others.
void SummaryPanel::showRanks()
{
    std::vector<EvidenceRow> rows;
    if (m_facts->rank)
        for (const auto& rank : m_facts->rank->all) {
            EvidenceRow row;
            row.cells = {
                {QString::number(rank.number), static_cast<double>(rank.number)},
                {asQString(rank.name), 0},
                {formatCount(rank.count), static_cast<double>(rank.count)},
                {rank.steadyMeanUs > 0 ? formatUs(rank.steadyMeanUs) : QStringLiteral("–"), rank.steadyMeanUs}};
            rows.push_back(std::move(row));
        }
    m_rankRow->setVisible(!rows.empty());
    m_ranks->setVisible(!rows.empty());
    m_ranks->setRows(std::move(rows));
    if (!m_facts->rank)
        return;
    const QSignalBlocker quiet(m_rankChoice);
    m_rankChoice->clear();
    m_rankChoice->addItem(tr("The slowest"));
    for (const auto& rank : m_facts->rank->all) {
        m_rankChoice->addItem(tr("%1 (%2)").arg(rank.number).arg(asQString(rank.name)),
                              QVariant::fromValue<qlonglong>(rank.number));
        if (m_facts->rank->chosen && rank.number == m_facts->rank->number)
            m_rankChoice->setCurrentIndex(m_rankChoice->count() - 1);
    }
}

void SummaryPanel::showDevices()
{
    m_devices->setVisible(m_summary != nullptr);
    if (m_summary)
        m_devices->show(*m_summary);
}

void SummaryPanel::showParts()
{
    const analysis::StepParts& parts = m_facts->statistics.steadyMeanParts;
    double sum = 0;
    for (const StepPart& part : kStepParts)
        sum += ns(parts.*part.time);
    std::vector<EvidenceRow> rows;
    std::vector<PartsBar::Part> bar;
    m_barParts.clear();
    for (std::size_t i = 0; i < kStepParts.size(); ++i) {
        const StepPart& part = kStepParts[i];
        const auto time = parts.*part.time;
        if (time.count() <= 0 || sum <= 0)
            continue;
        const double share = ns(time) / sum;
        const QString name = stepPartName(part);
        rows.push_back({{{name, 0}, {formatDuration(time), ns(time)}, {formatShare(share), share}},
                        part.which,
                        {},
                        QString::fromLatin1(part.name)});
        bar.push_back({part.which, name, share,
                       name + QStringLiteral(": ") + formatDuration(time) + QStringLiteral(", ") + formatShare(share)});
        m_barParts.push_back(i);
    }
    m_bar->setParts(std::move(bar));
    m_parts->setRows(std::move(rows));
}

void SummaryPanel::showLoader()
{
    const analysis::InputWait& input = m_facts->input;
    const QString busy = formatShare(input.workerBusyShare);
    const QString who = input.workers == 0 ? tr("The main thread loads the data")
                        : input.workers == 1
                            ? tr("One loader worker, busy %1 of the time").arg(busy)
                            : tr("%1 loader workers, busy %2 of the time").arg(input.workers).arg(busy);
    const QString waits =
        tr("a steady step waits %1 for data (%2)").arg(formatUs(input.waitUsPerStep), formatShare(input.waitShare));
    // Without recorded loader stages, the cost of a batch and the loading thread are unknown; without waits, it is
    // unknown whether data is loaded at all.
    if (input.loadUsPerBatch > 0)
        m_loaderText->setText(tr("%1. Loading a batch takes %2; %3.").arg(who, formatUs(input.loadUsPerBatch), waits));
    else if (input.waitUsPerStep > 0)
        m_loaderText->setText(tr("Loading was not recorded; %1.").arg(waits));
    else
        m_loaderText->setText(
            tr("Loading was not recorded: the trace contains neither loader work nor waits for data."));
    std::vector<EvidenceRow> rows;
    for (const auto& stage : input.stages)
        rows.push_back({{{asQString(stage.name), 0},
                         {formatUs(stage.usPerBatch), stage.usPerBatch},
                         {formatShare(stage.share), stage.share}},
                        classify(profiler::ActivityKind::LoaderStage, stage.name),
                        {},
                        asQString(stage.name)});
    m_stages->setRows(std::move(rows));
    m_stages->setVisible(!input.stages.empty());
}

void SummaryPanel::showOps()
{
    const analysis::OpCosts& costs = m_facts->ops;
    m_opsText->setText(costs.stepsWithOps == 0 ? tr("Operators were not recorded in this trace.")
                                               : tr("Self time excludes called operators. Based on %1.")
                                                     .arg(formatCounted(costs.stepsWithOps, tr("step"), tr("steps"))));
    std::vector<EvidenceRow> rows;
    for (const analysis::OpCost& op : costs.ops) {
        if (rows.size() == kTopOps)
            break;
        EvidenceRow row;
        row.cells = {{asQString(op.name), 0},
                     {asQString(op.phase), 0},
                     {formatUs(op.selfUsPerStep), op.selfUsPerStep},
                     {formatSignificant(op.countPerStep), op.countPerStep}};
        row.swatch = classify(profiler::ActivityKind::CpuOp, op.name);
        row.evidence.slice = op.longest;
        rows.push_back(std::move(row));
    }
    m_ops->setVisible(!rows.empty());
    m_ops->setRows(std::move(rows));
}

void SummaryPanel::follow(const Evidence& evidence)
{
    if (!evidence.slice || !m_trace || !holds(*m_trace, *evidence.slice))
        return;
    const profiler::Slice slice = m_trace->slice(*evidence.slice);
    m_selection->selectSlice(slice.id);
    m_selection->show(evidence.range.value_or(slice.range()), slice.id.track);
}

void SummaryPanel::followStep(int step)
{
    const analysis::Step& chosen = m_facts->steps[static_cast<std::size_t>(step)];
    follow({chosen.slice, chosen.range});
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* panel = new SummaryPanel(bench.document.selection(), parent);
    TraceDocument* document = &bench.document;
    const auto showAnalysed = [=] {
        const auto analysed = document->analysed();
        if (analysed) // shares the analysis without copying it
            panel->show(analysed->trace, {analysed, &analysed->facts}, {analysed, &analysed->summary});
        else
            panel->show(nullptr, nullptr, nullptr);
        panel->setAnalysing(!analysed && document->trace()->sliceCount() > 0, document->whyNotAnalysed());
    };
    QObject::connect(document, &TraceDocument::traceChanged, panel,
                     [=] { panel->setAnalysing(!document->analysed() && document->trace()->sliceCount() > 0); });
    QObject::connect(document, &TraceDocument::analysedChanged, panel, showAnalysed);
    QObject::connect(panel, &SummaryPanel::stepsByRepetitionWanted, document, &TraceDocument::setStepsByRepetition);
    QObject::connect(panel, &SummaryPanel::stepRangeWanted, document, &TraceDocument::setStepRange);
    QObject::connect(panel, &SummaryPanel::rankWanted, document, &TraceDocument::setRank);
    showAnalysed();
    return panel;
}

} // namespace

View summary()
{
    return {QCoreApplication::translate("views", "Summary"), ViewArea::Bottom, 0, create};
}

} // namespace app::views
