#include "app/views/summary/memory_summary.h"

#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/tables/slice_details.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace analysis = profiler::analysis;

namespace {

constexpr std::size_t kMost = 12;

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

} // namespace

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
    auto* head = new QLabel(headOf(moment), m_content);
    QFont font = head->font();
    font.setBold(true);
    head->setFont(font);
    head->setTextFormat(Qt::PlainText);
    head->setWordWrap(true);
    auto* sentence = new QLabel(sentenceOf(moment), m_content);
    sentence->setObjectName("memorySentence");
    sentence->setForegroundRole(QPalette::PlaceholderText);
    sentence->setTextFormat(Qt::PlainText);
    sentence->setWordWrap(true);
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
    for (std::size_t i = 0; i < std::min(kMost, moment.alive.size()); ++i)
        rows.push_back(rowOf(moment.alive[i], steps));
    table->setRows(std::move(rows));
    m_content->layout()->addWidget(table);
    connect(table, &EvidenceTable::rowActivated, this,
            [this](const EvidenceRow& row) { emit evidenceChosen(row.evidence); });
}

} // namespace app
