#include "app/views/summary/detailed_analysis_summary.h"

#include "advisor/report/detailed_analysis_tables.h"
#include "app/look/qstring.h"
#include "app/tables/slice_details.h"

#include <QLabel>
#include <QVBoxLayout>
#include <utility>

namespace app {

namespace {

constexpr std::size_t kMostRows = 12;

QLabel* words(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
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
