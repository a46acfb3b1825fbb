#include "app/tables/evidence_table.h"

#include "app/look/theme.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QSortFilterProxyModel>

namespace app {

EvidenceTable::EvidenceTable(std::vector<EvidenceModel::Column> columns, const QString& accessibleName, QWidget* parent)
    : QTableView(parent)
{
    const int last = static_cast<int>(columns.size());
    m_model = new EvidenceModel(std::move(columns), this);
    m_sorted = new QSortFilterProxyModel(this);
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(EvidenceModel::kSortRole);
    m_model->setDark(TimelineTheme::from(palette()).dark);
    setModel(m_sorted);
    setSortingEnabled(true);
    m_sorted->sort(-1); // unsorted until a heading is clicked
    horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    horizontalHeader()->setHighlightSections(false);
    for (int column = 1; column < last; ++column)
        horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setEditTriggers(NoEditTriggers);
    setShowGrid(false);
    setWordWrap(false);
    setTextElideMode(Qt::ElideRight);
    setFrameShape(QFrame::NoFrame);
    setTabKeyNavigation(false);
    setAccessibleName(accessibleName);
    connect(this, &QTableView::clicked, this, &EvidenceTable::activate);
}

void EvidenceTable::setRows(std::vector<EvidenceRow> rows)
{
    m_model->setRows(std::move(rows));
    if (m_fits)
        updateGeometry();
}

void EvidenceTable::setFitsRows(bool fits)
{
    m_fits = fits;
    setVerticalScrollBarPolicy(fits ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    setSizePolicy(QSizePolicy::Expanding, fits ? QSizePolicy::Fixed : QSizePolicy::Expanding);
}

int EvidenceTable::fittedHeight() const
{
    return horizontalHeader()->sizeHint().height() + m_model->rowCount() * verticalHeader()->defaultSectionSize() + 2;
}

QSize EvidenceTable::sizeHint() const
{
    return m_fits ? QSize(QTableView::sizeHint().width(), fittedHeight()) : QTableView::sizeHint();
}

QSize EvidenceTable::minimumSizeHint() const
{
    return m_fits ? QSize(200, fittedHeight()) : QTableView::minimumSizeHint();
}

void EvidenceTable::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        m_model->setDark(TimelineTheme::from(palette()).dark);
    QTableView::changeEvent(event);
}

void EvidenceTable::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        activate(currentIndex());
    else
        QTableView::keyPressEvent(event);
}

void EvidenceTable::activate(const QModelIndex& index)
{
    const QModelIndex source = m_sorted->mapToSource(index);
    if (source.isValid())
        emit rowActivated(m_model->row(source.row()));
}

} // namespace app
