#include "app/views/summary/summary_sections.h"

#include "advisor/report/detailed_analysis_tables.h"
#include "app/charts/compact_bars.h"
#include "app/look/display_text.h"
#include "app/tables/slice_details.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace app {

namespace analysis = profiler::analysis;

namespace {

constexpr std::size_t kMostRows = 12; ///< of each table

QLabel* words(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QLabel* heading(const QString& text, QWidget* parent)
{
    QLabel* label = words(text, parent);
    QFont font = label->font();
    font.setBold(true);
    label->setFont(font);
    return label;
}

double ns(profiler::Nanoseconds time)
{
    return static_cast<double>(time.count());
}

EvidenceRow shareRow(const QString& name, profiler::Nanoseconds time, profiler::Nanoseconds whole, SliceClass colour)
{
    const double share = whole.count() > 0 ? ns(time) / ns(whole) : 0;
    EvidenceRow row;
    row.cells = {{name, 0}, {formatDuration(time), ns(time)}, {formatShare(share), share}};
    row.swatch = colour;
    return row;
}

QString headOf(const analysis::MemoryMoment& moment)
{
    const QString place = asQString(moment.place);
    return moment.ranOut ? MemorySummary::tr("%1 memory when it ran out").arg(place)
                         : MemorySummary::tr("Peak %1 memory").arg(place);
}

QString sentenceOf(const analysis::MemoryMoment& moment)
{
    const QString held = formatBytes(static_cast<double>(moment.bytes));
    QString text = moment.asked ? MemorySummary::tr("%1 allocated, and %2 more requested.")
                                      .arg(held, formatBytes(static_cast<double>(*moment.asked)))
                   : moment.ranOut ? MemorySummary::tr("%1 allocated.").arg(held)
                                   : MemorySummary::tr("%1 allocated at the same time.").arg(held);
    if (!moment.alive.empty())
        text += QStringLiteral(" ") + MemorySummary::tr("Live blocks at that time, by allocating operator:");
    return text;
}

QString takerOf(const analysis::MemoryHolder& holder)
{
    if (holder.rest)
        return MemorySummary::tr("All smaller blocks");
    return holder.op.empty() ? MemorySummary::tr("Outside operators") : asQString(holder.op);
}

EvidenceRow rowOf(const analysis::MemoryHolder& holder, const std::vector<analysis::Step>& steps)
{
    const QString none = QStringLiteral("–");
    EvidenceRow row;
    row.cells = {{takerOf(holder), 0},
                 {holder.phase.empty() ? none : asQString(holder.phase), 0},
                 {holder.step ? formatCount(*holder.step) : none, holder.step ? static_cast<double>(*holder.step) : -1},
                 {formatBytes(static_cast<double>(holder.bytes)), static_cast<double>(holder.bytes)},
                 {formatCount(holder.blocks), static_cast<double>(holder.blocks)}};
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [&](const analysis::Step& one) { return holder.step && one.index == *holder.step; });
    if (step != steps.end())
        row.evidence = {step->slice, step->range};
    return row;
}

EvidenceRow rowOf(const advisor::AnalysisTable::Row& row)
{
    EvidenceRow shown;
    for (const advisor::AnalysisTable::Cell& cell : row.cells)
        shown.cells.push_back({asQString(cell.text), cell.number});
    shown.evidence.slice = row.slice;
    return shown;
}

} // namespace

DeviceSummary::DeviceSummary(QWidget* parent)
    : QWidget(parent), m_breakdownHead(heading(tr("Where the step time goes"), this)),
      m_devicesHead(heading(tr("Devices"), this)), m_devicesText(new QLabel(this)),
      m_idleHead(heading(tr("Why the GPUs were idle"), this)), m_kernelsHead(heading(tr("Top kernels"), this)),
      m_bar(new PartsBar(this))
{
    const auto table = [this](const QString& what, const QString& name, const char* objectName) {
        auto* made = new EvidenceTable({{what, false}, {tr("Time"), true}, {tr("Share"), true}}, name, this);
        made->setObjectName(QString::fromLatin1(objectName));
        made->setFitsRows(true);
        return made;
    };
    m_breakdown = table(tr("Activity"), tr("Where the step time goes"), "breakdown");
    m_idle = table(tr("Cause"), tr("Causes of GPU idle time"), "idleCauses");
    m_kernels = table(tr("Kernel"), tr("Top kernels"), "topKernels");
    m_devicesText->setObjectName("devices");
    m_devicesText->setTextFormat(Qt::PlainText);
    m_devicesText->setWordWrap(true);
    m_devicesText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 8);
    column->setSpacing(6);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_breakdownHead, m_bar, m_breakdown, m_devicesHead,
                                                           m_devicesText, m_idleHead, m_idle, m_kernelsHead, m_kernels})
        column->addWidget(widget);
    connect(m_kernels, &EvidenceTable::rowActivated, this,
            [this](const EvidenceRow& row) { emit evidenceChosen(row.evidence); });
}

void DeviceSummary::show(const TraceSummary& summary)
{
    showBreakdown(summary.breakdown);
    showDevices(summary);
    showKernels(summary.kernels.get());
    // A CPU-only trace already shows all of this in its phases.
    setVisible(!summary.devices.empty());
}

void DeviceSummary::showBreakdown(const analysis::Breakdown& breakdown)
{
    std::vector<EvidenceRow> rows;
    std::vector<PartsBar::Part> parts;
    for (std::size_t i = 0; i < analysis::kTimeClasses; ++i) {
        const auto timeClass = static_cast<analysis::TimeClass>(i);
        if (breakdown.time[i].count() <= 0)
            continue;
        const QString word = timeClassWord(timeClass);
        const double share = breakdown.share(timeClass);
        rows.push_back(shareRow(word, breakdown.time[i], breakdown.total, timeClassColour(timeClass)));
        parts.push_back({timeClassColour(timeClass), word, share, word + QStringLiteral(": ") + formatShare(share)});
    }
    for (QWidget* widget : std::initializer_list<QWidget*>{m_breakdownHead, m_bar, m_breakdown})
        widget->setVisible(!rows.empty());
    m_bar->setParts(std::move(parts));
    m_breakdown->setRows(std::move(rows));
}

void DeviceSummary::showDevices(const TraceSummary& summary)
{
    QStringList lines;
    for (const analysis::DeviceUse& device : summary.devices)
        lines << deviceSentence(device);
    m_devicesText->setText(lines.join('\n'));
    profiler::Nanoseconds idle{};
    for (const analysis::IdleCause& cause : summary.idle)
        idle += cause.time;
    std::vector<EvidenceRow> rows;
    for (const analysis::IdleCause& cause : summary.idle)
        rows.push_back(shareRow(idleCauseSentence(cause.cause), cause.time, idle, idleCauseColour(cause.cause)));
    m_idleHead->setVisible(!rows.empty());
    m_idle->setVisible(!rows.empty());
    m_idle->setRows(std::move(rows));
}

void DeviceSummary::showKernels(const TableRows* kernels)
{
    m_kernelsHead->setVisible(kernels);
    m_kernels->setVisible(kernels);
    std::vector<EvidenceRow> rows;
    const std::size_t count = kernels ? std::min(kMostRows, kernels->size()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        EvidenceRow row;
        for (std::size_t column = 0; column < kernels->columns().size(); ++column) {
            const int id = kernels->columns()[column].id;
            const TableValue value = kernels->value(i, column);
            if (id == static_cast<int>(Field::Name) || id == static_cast<int>(Field::Total) ||
                id == static_cast<int>(Field::Share))
                row.cells.push_back(
                    {shownText(value),
                     value.unit == TableValue::Unit::Share ? value.real : static_cast<double>(value.whole),
                     fullText(value)});
        }
        row.swatch = kernels->sliceClass(i);
        row.evidence.slice = kernels->slice(i);
        rows.push_back(std::move(row));
    }
    m_kernels->setRows(std::move(rows));
}

MemorySummary::MemorySummary(QWidget* parent) : QWidget(parent), m_column(new QVBoxLayout(this))
{
    m_column->setContentsMargins(0, 0, 0, 0);
}

void MemorySummary::show(const std::vector<analysis::MemoryMoment>& moments, const std::vector<analysis::Step>& steps)
{
    setVisible(!moments.empty());
    if (m_content && moments == m_shown)
        return;
    m_shown = moments;
    delete m_content;
    m_content = new QWidget(this);
    m_column->addWidget(m_content);
    auto* column = new QVBoxLayout(m_content);
    column->setContentsMargins(0, 8, 0, 0);
    column->setSpacing(6);
    for (const analysis::MemoryMoment& moment : moments)
        addMoment(moment, steps);
}

void MemorySummary::addMoment(const analysis::MemoryMoment& moment, const std::vector<analysis::Step>& steps)
{
    auto* head = heading(headOf(moment), m_content);
    auto* sentence = words(sentenceOf(moment), m_content);
    sentence->setObjectName("memorySentence");
    sentence->setForegroundRole(QPalette::PlaceholderText);
    m_content->layout()->addWidget(head);
    m_content->layout()->addWidget(sentence);
    if (moment.alive.empty())
        return;
    auto* table = new EvidenceTable({{tr("Allocated by"), false},
                                     {tr("Phase"), false},
                                     {tr("Step"), true},
                                     {tr("Size"), true},
                                     {tr("Blocks"), true}},
                                    headOf(moment), m_content);
    table->setObjectName("memoryHolders");
    table->setFitsRows(true);
    std::vector<EvidenceRow> rows;
    for (std::size_t i = 0; i < std::min(kMostRows, moment.alive.size()); ++i)
        rows.push_back(rowOf(moment.alive[i], steps));
    table->setRows(std::move(rows));
    m_content->layout()->addWidget(table);
    connect(table, &EvidenceTable::rowActivated, this,
            [this](const EvidenceRow& row) { emit evidenceChosen(row.evidence); });
}

DetailedAnalysisSummary::DetailedAnalysisSummary(QWidget* parent)
    : QWidget(parent), m_column(new QVBoxLayout(this)), m_waiting(words(tr("Running the detailed "
                                                                           "analysis…"),
                                                                        this)),
      m_thread(this)
{
    m_column->setContentsMargins(0, 0, 0, 0);
    m_waiting->setForegroundRole(QPalette::PlaceholderText);
    m_waiting->setObjectName("lookingCloser");
    m_column->addWidget(m_waiting);
    hide();
}

void DetailedAnalysisSummary::show(std::shared_ptr<const profiler::Trace> trace,
                                   std::shared_ptr<const profiler::analysis::Facts> facts)
{
    if (trace == m_trace && facts == m_facts)
        return;
    m_thread.cancel();
    m_trace = std::move(trace);
    m_facts = std::move(facts);
    delete std::exchange(m_content, nullptr);
    m_wanted = m_trace && m_facts && !m_trace->captureStats().live;
    m_waiting->setText(tr("Running the detailed analysis…"));
    m_waiting->setVisible(m_wanted);
    setVisible(m_wanted);
    if (isVisible())
        analyse();
}

void DetailedAnalysisSummary::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    analyse();
}

void DetailedAnalysisSummary::analyse()
{
    if (!std::exchange(m_wanted, false))
        return;
    m_thread.start(
        [this, trace = m_trace, facts = m_facts](const std::stop_token& stop, const Background::Post& post) {
            const auto found = profiler::analysis::detailedAnalysis(*trace, facts->steps, stop);
            if (stop.stop_requested())
                return;
            post([this, tables = advisor::detailedAnalysisTables(*trace, found, kMostRows)] { fill(tables); });
        },
        [this](const profiler::Error& error) { m_waiting->setText(QString::fromStdString(error.message())); });
}

void DetailedAnalysisSummary::fill(const std::vector<advisor::AnalysisTable>& tables)
{
    m_waiting->hide();
    m_content = new QWidget(this);
    auto* column = new QVBoxLayout(m_content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    for (const advisor::AnalysisTable& table : tables)
        addTable(table);
    m_column->addWidget(m_content);
}

void DetailedAnalysisSummary::addTable(const advisor::AnalysisTable& table)
{
    auto* column = qobject_cast<QVBoxLayout*>(m_content->layout());
    const QString heading = asQString(table.heading);
    QLabel* head = words(heading, m_content);
    QFont font = head->font();
    font.setBold(true);
    head->setFont(font);
    column->addSpacing(8);
    column->addWidget(head);
    std::vector<EvidenceModel::Column> columns;
    for (const advisor::AnalysisTable::Column& each : table.columns)
        columns.push_back({asQString(each.title), each.number});
    auto* rows = new EvidenceTable(std::move(columns), heading, m_content);
    rows->setObjectName(asQString(table.key));
    rows->setFitsRows(true);
    std::vector<EvidenceRow> shown;
    for (const advisor::AnalysisTable::Row& row : table.rows)
        shown.push_back(rowOf(row));
    rows->setRows(std::move(shown));
    column->addWidget(rows);
    connect(rows, &EvidenceTable::rowActivated, this,
            [this](const EvidenceRow& row) { emit evidenceChosen(row.evidence); });
    if (table.note.empty())
        return;
    QLabel* note = words(asQString(table.note), m_content);
    note->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(note);
}

} // namespace app
