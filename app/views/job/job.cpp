#include "app/views/job/job.h"

#include "app/document/job_document.h"
#include "app/look/display_text.h"
#include "app/look/labels.h"
#include "app/tables/evidence_table.h"
#include "app/views/job/job_heat_map.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "profiler/analysis/intervals.h"

#include <QAbstractProxyModel>
#include <QAction>
#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace app {

namespace analysis = profiler::analysis;
using profiler::analysis::JobAnalysis;
using profiler::analysis::toUs;

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(JobRows)
};

// The tables: their columns and rows. The key of a row is the index of what it shows.

EvidenceCell text(const QString& shown)
{
    return {shown.isEmpty() ? QStringLiteral("–") : shown, 0};
}
EvidenceCell count(std::int64_t value)
{
    return {formatCount(value), static_cast<double>(value)};
}
/// A rank or a step: a number that identifies something.
EvidenceCell number(std::int64_t value)
{
    return {QString::number(value), static_cast<double>(value)};
}
EvidenceCell time(double us)
{
    return {formatUs(us), us};
}
EvidenceCell share(double value)
{
    return {formatShare(value), value};
}
EvidenceCell bytes(std::int64_t value)
{
    return {value > 0 ? formatBytes(static_cast<double>(value)) : QStringLiteral("–"), static_cast<double>(value)};
}
EvidenceCell rate(double gbPerS)
{
    return {gbPerS > 0 ? formatSignificant(gbPerS) : QStringLiteral("–"), gbPerS};
}

EvidenceRow row(std::size_t key, std::vector<EvidenceCell> cells)
{
    EvidenceRow made;
    made.cells = std::move(cells);
    made.key = QString::number(key);
    return made;
}

std::vector<EvidenceModel::Column> stragglerColumns()
{
    return {{Texts::tr("Rank"), true},   {Texts::tr("Host"), false}, {Texts::tr("Late by"), true},
            {Texts::tr("Cause"), false}, {Texts::tr("When"), false}, {Texts::tr("Evidence"), false}};
}

/// The key is an index into JobAnalysis::stragglers.
std::vector<EvidenceRow> stragglerRows(const profiler::job::Job& job)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::Straggler& straggler : job.analysis.stragglers) {
        const analysis::RankDigest& rank = job.ranks[straggler.rank];
        rows.push_back(row(rows.size(), {number(rank.rank), text(asQString(rank.host)), time(straggler.lateUs),
                                         text(causeText(straggler.cause)), text(scopeText(job, straggler)),
                                         text(asQString(straggler.reason.text))}));
    }
    return rows;
}

std::vector<EvidenceModel::Column> rankColumns()
{
    return {{Texts::tr("Rank"), true},     {Texts::tr("Host"), false},   {Texts::tr("Step time"), true},
            {Texts::tr("Busy"), true},     {Texts::tr("Waiting"), true}, {Texts::tr("Lateness"), true},
            {Texts::tr("Transfer"), true}, {Texts::tr("Exposed"), true}, {Texts::tr("Clock error"), true}};
}

/// The key is an index into Job::ranks.
std::vector<EvidenceRow> rankRows(const profiler::job::Job& job)
{
    std::vector<EvidenceRow> rows;
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        const analysis::RankDigest& digest = job.ranks[i];
        const analysis::JobRank& rank = job.analysis.ranks[i];
        const analysis::RankClock& clock = job.analysis.clock.ranks[i];
        const double errorUs = analysis::toUs(clock.error);
        rows.push_back(row(i, {number(digest.rank), text(asQString(digest.host)), time(rank.stepUs), share(digest.busy),
                               time(rank.waitUs), rank.lateUs > 0 ? time(rank.lateUs) : EvidenceCell{"–", 0},
                               time(rank.transferUs), time(rank.exposedUs),
                               clock.refined ? time(errorUs) : EvidenceCell{Texts::tr("unknown"), -1}}));
    }
    return rows;
}

std::vector<EvidenceModel::Column> waitColumns()
{
    return {{Texts::tr("Collective"), false},   {Texts::tr("Size"), true},    {Texts::tr("Last"), true},
            {Texts::tr("Late by"), true},       {Texts::tr("Longest"), true}, {Texts::tr("Waited"), true},
            {Texts::tr("Waiting ranks"), false}};
}

/// The key is an index into `waits`.
std::vector<EvidenceRow> waitRows(const profiler::job::Job& job, const std::vector<analysis::StepWait>& waits)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::StepWait& wait : waits) {
        std::vector<std::int64_t> waiting;
        for (const std::size_t rank : wait.waiting)
            waiting.push_back(job.ranks[rank].rank);
        std::sort(waiting.begin(), waiting.end());
        QString collective = collectiveText(wait.kind);
        if (!wait.group.empty())
            collective = Texts::tr("%1 of %2").arg(collective, asQString(wait.group));
        rows.push_back(row(rows.size(), {text(collective),
                                         bytes(wait.bytes),
                                         number(job.ranks[wait.last].rank),
                                         time(wait.lateUs),
                                         time(wait.longestUs),
                                         {Texts::tr("%1 of %2").arg(waiting.size()).arg(wait.ranks),
                                          static_cast<double>(waiting.size())},
                                         text(formatNumbers(waiting))}));
    }
    return rows;
}

std::vector<EvidenceModel::Column> groupColumns()
{
    return {{Texts::tr("Groups"), false}, {Texts::tr("Communicators"), true}, {Texts::tr("Ranks"), true},
            {Texts::tr("Calls"), true},   {Texts::tr("Exposed"), true},       {Texts::tr("Waiting"), true},
            {Texts::tr("Transfer"), true}};
}

std::vector<EvidenceRow> groupRows(const profiler::job::Job& job)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::GroupUse& use : job.analysis.groups)
        rows.push_back(
            row(rows.size(), {text(groupRoleText(use.role)), count(use.groups), count(use.size), count(use.calls),
                              time(use.exposedUs), time(use.waitUs), time(use.transferUs)}));
    return rows;
}

std::vector<EvidenceModel::Column> collectiveColumns()
{
    return {{Texts::tr("Collective"), false}, {Texts::tr("Ranks"), true},    {Texts::tr("Size"), true},
            {Texts::tr("Count"), true},       {Texts::tr("Transfer"), true}, {Texts::tr("Waiting"), true},
            {Texts::tr("Bus GB/s"), true},    {Texts::tr("Best"), true}};
}

std::vector<EvidenceRow> collectiveRows(const profiler::job::Job& job)
{
    std::vector<EvidenceRow> rows;
    for (const analysis::CollectiveUse& use : job.analysis.collectives)
        rows.push_back(
            row(rows.size(), {text(collectiveText(use.kind)), count(use.ranks), bytes(use.bytes), count(use.count),
                              time(use.transferUs), time(use.waitUs), rate(use.busGbPerS), rate(use.bestBusGbPerS)}));
    return rows;
}

/// The row of the model that a row on screen shows, after sorting.
int sourceRow(const EvidenceTable& table, const QModelIndex& index)
{
    const auto* sorted = qobject_cast<const QAbstractProxyModel*>(table.model());
    return index.isValid() ? sorted->mapToSource(index).row() : -1;
}

void selectSourceRow(EvidenceTable& table, int row)
{
    const auto* sorted = qobject_cast<const QAbstractProxyModel*>(table.model());
    const QModelIndex index = row >= 0 && row < table.evidence()->rowCount()
                                  ? sorted->mapFromSource(table.evidence()->index(row, 0))
                                  : QModelIndex();
    if (index.isValid())
        table.setCurrentIndex(index);
    else
        table.selectionModel()->clear();
}

/// The last column, whose texts are long, gets the remaining width.
void stretchLast(EvidenceTable& table)
{
    table.horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    table.horizontalHeader()->setSectionResizeMode(table.model()->columnCount() - 1, QHeaderView::Stretch);
}

} // namespace

JobPanel::JobPanel(JobDocument* job, QWidget* parent)
    : QWidget(parent), m_job(job), m_pages(new QStackedWidget(this)), m_empty(makeEmptyLabel("jobEmpty", m_pages))
{
    m_pages->addWidget(m_empty);
    m_pages->addWidget(makePage());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_pages);
    connect(m_job, &JobDocument::changed, this, &JobPanel::showJob);
    connect(m_job, &JobDocument::loading, this, &JobPanel::showLoading);
    connect(m_job, &JobDocument::selectionChanged, this, &JobPanel::showSelection);
    showJob();
    showSelection();
}

QWidget* JobPanel::makePage()
{
    auto* page = new QWidget(m_pages);
    m_sides = new QSplitter(Qt::Horizontal, page);
    m_sides->setChildrenCollapsible(false);
    m_map = new JobHeatMap(m_sides);
    m_map->setObjectName("jobHeatMap");
    m_sides->addWidget(m_map);
    m_sides->addWidget(makeTables());
    m_sides->setStretchFactor(0, 1);
    m_sides->setStretchFactor(1, 1);
    m_sides->setSizes({500, 500});
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(m_sides, 1);
    connect(m_map, &JobHeatMap::chosen, m_job,
            [this](std::size_t rank, std::size_t step) { m_job->select(rank, step); });
    connect(m_map, &JobHeatMap::opened, m_job, [this](std::size_t rank, std::size_t step) {
        m_job->select(rank, step);
        m_job->openSelected();
    });
    setFocusProxy(m_map);
    return page;
}

QWidget* JobPanel::makeHeader()
{
    auto* header = new QWidget(this);
    m_summary = makeTextLabel("jobSummary", header);
    m_summary->setToolTip(tr("Efficiency is the mean share of a step in which a rank does not wait for communication. "
                             "The clock error is the largest deviation of a rank in the ends of collectives."));
    m_notes = makeTextLabel("jobNotes", header);
    m_notes->setForegroundRole(QPalette::PlaceholderText);
    m_figure = new QComboBox(header);
    m_figure->setObjectName("jobFigure");
    m_figure->setAccessibleName(tr("Figure that the colours show"));
    m_figure->setToolTip(m_figure->accessibleName());
    for (const JobFigure figure : kJobFigures)
        m_figure->addItem(figureTitle(figure), static_cast<int>(figure));
    connect(m_figure, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_map->setFigure(static_cast<JobFigure>(m_figure->itemData(index).toInt())); });
    m_cell = makeTextLabel("jobCell", header);
    m_timeline = new QComboBox(header);
    m_timeline->setObjectName("jobTimeline");
    m_timeline->setAccessibleName(tr("What the timeline shows"));
    m_timeline->setToolTip(m_timeline->accessibleName());
    m_timeline->addItem(tr("Timeline: one rank"), static_cast<int>(JobTimeline::OneRank));
    m_timeline->addItem(tr("Timeline: ranks by number"), static_cast<int>(JobTimeline::ByRank));
    m_timeline->addItem(tr("Timeline: ranks by host"), static_cast<int>(JobTimeline::ByHost));
    m_timeline->addItem(tr("Timeline: latest ranks first"), static_cast<int>(JobTimeline::ByLateness));
    connect(m_timeline, &QComboBox::activated, m_job,
            [this](int index) { m_job->setTimeline(static_cast<JobTimeline>(m_timeline->itemData(index).toInt())); });
    connect(m_job, &JobDocument::timelineChanged, this,
            [this] { m_timeline->setCurrentIndex(m_timeline->findData(static_cast<int>(m_job->timeline()))); });
    auto* choice = new QHBoxLayout;
    choice->addWidget(m_figure);
    choice->addWidget(m_cell, 1);
    choice->addWidget(m_timeline);
    auto* column = new QVBoxLayout(header);
    column->setContentsMargins(8, 4, 8, 4);
    column->setSpacing(3);
    column->addWidget(m_summary);
    column->addWidget(m_notes);
    column->addLayout(choice);
    return header;
}

QWidget* JobPanel::makeTables()
{
    auto* side = new QWidget(m_sides);
    m_tabs = new QTabBar(side);
    m_tabs->setObjectName("jobTabs");
    m_tabs->setAccessibleName(tr("Part of the view"));
    m_tabs->setDocumentMode(true);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    for (const QString& title : {tr("Stragglers"), tr("Ranks"), tr("Waits"), tr("Communication")})
        m_tabs->addTab(title);
    m_tabs->setTabToolTip(Stragglers, tr("Ranks for which the others wait"));
    m_tabs->setTabToolTip(Waits, tr("Who waited for whom in the selected step"));
    m_parts = new QStackedWidget(side);
    m_tables = {new EvidenceTable(stragglerColumns(), tr("Ranks that delay the others")),
                new EvidenceTable(rankColumns(), tr("Ranks")),
                new EvidenceTable(waitColumns(), tr("Who waited for whom in the selected step")),
                new EvidenceTable(groupColumns(), tr("Communication by group"))};
    for (const Page page : {Stragglers, Ranks, Waits, Communication})
        m_parts->addWidget(makeTablePage(page, m_parts));
    for (const Page page : {Stragglers, Waits})
        stretchLast(*m_tables[page]);
    m_tables[Stragglers]->setObjectName("jobStragglers");
    m_tables[Ranks]->setObjectName("jobRanks");
    m_tables[Waits]->setObjectName("jobWaits");
    m_tables[Communication]->setObjectName("jobGroups");
    connect(m_tabs, &QTabBar::currentChanged, m_parts, &QStackedWidget::setCurrentIndex);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_tabs);
    layout->addWidget(m_parts, 1);
    return side;
}

QWidget* JobPanel::makeTablePage(Page page, QWidget* parent)
{
    auto* pages = new QStackedWidget(parent);
    EvidenceTable* table = m_tables[page];
    m_tablePages[page] = pages;
    m_whyEmpty[page] = makeEmptyLabel("jobTableEmpty", pages);
    if (page == Communication) {
        m_collectives = new EvidenceTable(collectiveColumns(), tr("Collectives by kind and size"), pages);
        m_collectives->setObjectName("jobCollectives");
        table->setToolTip(tr("Times are means per rank and step"));
        auto* both = new QWidget(pages);
        auto* column = new QVBoxLayout(both);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(6);
        column->addWidget(table, 2);
        column->addWidget(m_collectives, 3);
        for (EvidenceTable* each : {table, m_collectives})
            each->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
        pages->addWidget(both);
        pages->addWidget(m_whyEmpty[page]);
        return pages;
    }
    if (page == Stragglers) {
        m_evidence = makeTextLabel("jobEvidence", pages);
        m_evidence->setContentsMargins(8, 4, 8, 6);
        auto* both = new QWidget(pages);
        auto* column = new QVBoxLayout(both);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        column->addWidget(m_evidence); // whole: the column of the table may be too narrow for it
        column->addWidget(table, 1);
        pages->addWidget(both);
    } else {
        pages->addWidget(table);
    }
    pages->addWidget(m_whyEmpty[page]);
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this, table, page](const QModelIndex& current) { takeRow(page, sourceRow(*table, current)); });
    // A click on the current row chooses it again: the heat map may show another rank by now.
    connect(table, &QTableView::clicked, this,
            [this, table, page](const QModelIndex& index) { takeRow(page, sourceRow(*table, index)); });
    auto* open = new QAction(tr("Open the trace of the rank"), table);
    open->setShortcuts({Qt::Key_Return, Qt::Key_Enter});
    open->setShortcutContext(Qt::WidgetShortcut);
    connect(open, &QAction::triggered, m_job, &JobDocument::openSelected);
    connect(table, &QTableView::doubleClicked, m_job, &JobDocument::openSelected);
    table->addAction(open);
    table->setContextMenuPolicy(Qt::ActionsContextMenu);
    return pages;
}

void JobPanel::setPage(Page page)
{
    m_tabs->setCurrentIndex(page);
}

void JobPanel::showLoading(const QString& what, double share)
{
    if (!m_figures)
        m_empty->setText(share < 1 ? what + QStringLiteral("…") : QString());
    if (share == 1)
        showJob();
}

QString JobPanel::summaryText() const
{
    const profiler::job::Job& job = m_figures->job();
    const JobAnalysis& analysis = job.analysis;
    const auto recorded = static_cast<std::int64_t>(job.ranks.size());
    QStringList parts{
        recorded == job.worldSize
            ? formatCounted(recorded, tr("rank"), tr("ranks"))
            : tr("%1 of %2").arg(formatCount(recorded), formatCounted(job.worldSize, tr("rank"), tr("ranks"))),
        formatCounted(static_cast<std::int64_t>(analysis.steps.size()), tr("step in common"), tr("steps in common")),
        tr("step %1").arg(formatUs(analysis.stepUs)), tr("efficiency %1").arg(formatShare(analysis.efficiency)),
        analysis.clock.refined ? tr("clock error %1 µs").arg(formatSignificant(toUs(analysis.clock.error)))
                               : tr("clock error unknown: no collective connects the ranks")};
    if (!analysis.stragglers.empty()) {
        const auto& latest = analysis.stragglers.front();
        parts << tr("rank %1 is late by %2: %3")
                     .arg(job.ranks[latest.rank].rank)
                     .arg(formatUs(latest.lateUs), causeText(latest.cause));
    } else if (analysis.matched > 0) {
        parts << tr("no rank delays the others");
    }
    return parts.join(QStringLiteral(" · "));
}

QString JobPanel::notesText() const
{
    const profiler::job::Job& job = m_figures->job();
    if (m_job->isLoading())
        return tr("The other ranks are still being read; the figures change with each of them.");
    QStringList lines;
    if (!job.missing.empty())
        lines << tr("Ranks without a usable trace: %1.").arg(formatNumbers(job.missing, 8));
    for (const auto* notes : {&job.notes, &job.analysis.notes})
        for (const profiler::Message& note : *notes)
            lines << asQString(note.text);
    return lines.join(' ');
}

void JobPanel::showJob()
{
    m_showing = true;
    m_waitsOf.reset();
    if (!m_job->isOpen()) {
        m_figures.reset();
        m_map->setFigures(nullptr);
        for (EvidenceTable* table : m_tables)
            table->setRows({});
        m_collectives->setRows({});
        m_empty->setText(
            tr("No job is open.\nA job is one training with many ranks, each with its own trace. Drop the folder "
               "with the traces on this window, or choose File › Open a job…, to see which rank delays the others."));
        m_pages->setCurrentWidget(m_empty);
        m_showing = false;
        return;
    }
    if (!m_figures || &m_figures->job() != m_job->job().get()) {
        const profiler::job::Job& job = *m_job->job();
        m_figures = std::make_shared<const JobFigures>(m_job->job());
        m_summary->setText(summaryText());
        const QString notes = notesText();
        m_notes->setText(notes);
        m_notes->setVisible(!notes.isEmpty());
        m_map->setFigures(m_figures);
        m_timeline->setEnabled(job.files.files.size() > 1); // a single file with all ranks is shown as it is
        m_figure->setCurrentIndex(
            m_figure->findData(static_cast<int>(job.analysis.matched > 0 ? JobFigure::Lateness : JobFigure::StepTime)));
        m_tables[Stragglers]->setRows(stragglerRows(job));
        m_tables[Ranks]->setRows(rankRows(job));
        m_tables[Communication]->setRows(groupRows(job));
        m_collectives->setRows(collectiveRows(job));
        const bool anyLate = !job.analysis.stragglers.empty();
        m_whyEmpty[Stragglers]->setText(
            job.analysis.matched > 0 ? tr("No rank delays the others.")
                                     : tr("Who waits for whom is unknown: the traces have no collectives in common. "
                                          "Record all ranks at the same steps."));
        m_whyEmpty[Communication]->setText(tr("The traces contain no communication in the steps in common."));
        m_tablePages[Stragglers]->setCurrentIndex(anyLate ? 0 : 1);
        m_tablePages[Communication]->setCurrentIndex(job.analysis.groups.empty() ? 1 : 0);
        setPage(anyLate ? Stragglers : Ranks);
    }
    m_pages->setCurrentIndex(1);
    m_showing = false;
}

/// Marks the selected rank and step in all parts.
void JobPanel::showSelection()
{
    if (!m_figures || !m_job->rank())
        return;
    m_showing = true;
    showWaits();
    const std::size_t rank = *m_job->rank();
    if (const auto step = m_job->step()) {
        m_map->setCurrent(JobHeatMap::Cell{rank, *step});
        m_cell->setText(m_map->describe({rank, *step}));
    } else {
        m_map->setCurrent(std::nullopt);
        m_cell->clear();
    }
    selectSourceRow(*m_tables[Ranks], static_cast<int>(rank));
    const auto& stragglers = m_figures->job().analysis.stragglers;
    int late = -1;
    for (std::size_t i = 0; i < stragglers.size() && late < 0; ++i)
        if (stragglers[i].rank == rank)
            late = static_cast<int>(i);
    selectSourceRow(*m_tables[Stragglers], late);
    m_evidence->setVisible(late >= 0);
    m_evidence->setText(late < 0 ? QString() : asQString(stragglers[static_cast<std::size_t>(late)].reason.text));
    m_showing = false;
}

void JobPanel::showWaits()
{
    const auto step = m_job->step();
    if (step && m_waitsOf == step)
        return;
    m_waitsOf = step;
    m_waits.clear();
    const profiler::job::Job& job = m_figures->job();
    if (step)
        m_waits = profiler::analysis::stepWaits(job.ranks, job.analysis.calls, job.analysis.steps[*step]);
    m_tables[Waits]->setRows(waitRows(job, m_waits));
    m_tables[Waits]->selectionModel()->clear();
    m_tablePages[Waits]->setCurrentIndex(m_waits.empty() ? 1 : 0);
    m_whyEmpty[Waits]->setText(tr("No collective of this step was recorded by several ranks."));
    m_tabs->setTabText(Waits, step ? tr("Waits in step %1").arg(job.analysis.steps[*step]) : tr("Waits"));
}

/// The user chose a row: its rank, and the step in which that rank delays the others.
void JobPanel::takeRow(Page page, int row)
{
    if (m_showing || !m_figures || row < 0)
        return;
    const auto index = static_cast<std::size_t>(row);
    const profiler::job::Job& job = m_figures->job();
    switch (page) {
    case Stragglers: {
        const auto& straggler = job.analysis.stragglers[index];
        return m_job->select(straggler.rank, worstStep(job.analysis.ranks[straggler.rank]));
    }
    case Ranks:
        return m_job->select(index);
    case Waits:
        return m_job->select(m_waits[index].last);
    case Communication:
        return;
    }
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new JobPanel(&bench.job, parent);
}

} // namespace

View job()
{
    return {QCoreApplication::translate("views", "Job"), ViewArea::Bottom, 17, create};
}

} // namespace app::views
