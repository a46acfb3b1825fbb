#include "app/tables/table_view.h"

#include "app/look/theme.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <algorithm>

namespace app {

namespace {
constexpr int kNarrowestName = 200;
constexpr int kWidestOther = 260;
} // namespace

TableView::TableView(const QString& accessibleName, QWidget* parent) : QTableView(parent), m_model(new TableModel(this))
{
    m_model->setDark(isDark(palette()));
    setModel(m_model);
    QHeaderView* heads = horizontalHeader();
    heads->setSortIndicatorShown(true);
    heads->setSortIndicatorClearable(true);
    heads->setSectionsClickable(true);
    heads->setSectionsMovable(true);
    heads->setHighlightSections(false);
    heads->setResizeContentsPrecision(0); // visible rows only, because there may be millions
    heads->setSortIndicator(-1, Qt::AscendingOrder);
    verticalHeader()->hide();
    verticalHeader()->setMinimumSectionSize(4);
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    setSelectionBehavior(SelectRows);
    setSelectionMode(ExtendedSelection);
    setEditTriggers(NoEditTriggers);
    setShowGrid(false);
    setWordWrap(false);
    setTextElideMode(Qt::ElideMiddle); // long kernel names differ at both ends
    setFrameShape(QFrame::NoFrame);
    setTabKeyNavigation(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setAccessibleName(accessibleName);
    connect(heads, &QHeaderView::sortIndicatorChanged, this, [this](int section, Qt::SortOrder order) {
        const bool none = section < 0 || section >= m_model->columnCount();
        emit orderChanged({none ? -1 : m_model->rows()->columns()[static_cast<std::size_t>(section)].id,
                           order == Qt::DescendingOrder});
    });
    connect(heads, &QHeaderView::sectionResized, this, [this] { m_widthsByUser = m_widthsByUser || !m_fitting; });
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { emit rowActivated(static_cast<std::size_t>(index.row())); });
}

void TableView::setRows(std::shared_ptr<const TableRows> rows)
{
    m_quiet = true;
    const int columns = m_model->columnCount();
    m_fitting = true;
    m_model->setRows(std::move(rows));
    m_fitting = false;
    m_quiet = false;
    if (columns != m_model->columnCount())
        m_widthsByUser = false;
    if (!m_widthsByUser)
        fitColumns();
}

void TableView::markOrder(TableOrder order)
{
    int section = -1;
    for (int i = 0; i < m_model->columnCount(); ++i)
        if (m_model->rows()->columns()[static_cast<std::size_t>(i)].id == order.column)
            section = i;
    const QSignalBlocker blocked(horizontalHeader());
    horizontalHeader()->setSortIndicator(section, order.descending ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void TableView::showRow(std::optional<std::size_t> row)
{
    m_quiet = true;
    if (!row || *row >= static_cast<std::size_t>(m_model->rowCount())) {
        clearSelection();
        setCurrentIndex({});
    } else {
        selectRow(static_cast<int>(*row));
        scrollTo(m_model->index(static_cast<int>(*row), 0));
    }
    m_quiet = false;
}

std::optional<std::size_t> TableView::currentRow() const
{
    return currentIndex().isValid() ? std::optional{static_cast<std::size_t>(currentIndex().row())} : std::nullopt;
}

std::vector<std::size_t> TableView::selectedRows() const
{
    std::vector<std::size_t> rows;
    // Uses ranges, because one index per row would be too many for ten million rows.
    for (const QItemSelectionRange& range : selectionModel()->selection())
        for (int row = range.top(); row <= range.bottom(); ++row)
            rows.push_back(static_cast<std::size_t>(row));
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

void TableView::fitColumns()
{
    const int columns = m_model->columnCount();
    if (columns == 0)
        return;
    m_fitting = true;
    int others = 0;
    for (int column = 1; column < columns; ++column) {
        const int wanted = std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column)) + 6;
        setColumnWidth(column, std::min(wanted, kWidestOther));
        others += columnWidth(column);
    }
    // A numeric first column is only as wide as its values.
    const bool name = !m_model->rows()->columns().front().figure;
    const int first = std::max(sizeHintForColumn(0), horizontalHeader()->sectionSizeHint(0)) + 12;
    setColumnWidth(0, name ? std::max(kNarrowestName, viewport()->width() - others) : first);
    m_fitting = false;
}

void TableView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        m_model->setDark(isDark(palette()));
    if (event->type() == QEvent::FontChange)
        verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
    QTableView::changeEvent(event);
}

void TableView::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    if (!m_widthsByUser)
        fitColumns();
}

void TableView::keyPressEvent(QKeyEvent* event)
{
    const auto row = currentRow();
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && row)
        emit rowActivated(*row);
    else
        QTableView::keyPressEvent(event);
}

void TableView::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTableView::currentChanged(current, previous);
    if (!m_quiet && current.isValid())
        emit rowChosen(static_cast<std::size_t>(current.row()));
}

} // namespace app
