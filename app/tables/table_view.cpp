#include "app/tables/table_view.h"

#include "app/look/kind_palette.h"
#include "app/look/theme.h"

#include <QApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QSettings>
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace app {

namespace {

// View heights are ints in pixels; more rows than this would overflow.
constexpr std::size_t kMostRows = 50'000'000;

bool sameColumns(const TableRows& a, const TableRows& b)
{
    const auto same = [](const TableColumn& x, const TableColumn& y) { return x.title == y.title; };
    return std::equal(a.columns().begin(), a.columns().end(), b.columns().begin(), b.columns().end(), same);
}

constexpr int kNarrowestName = 200;
constexpr int kWidestOther = 260;

} // namespace

void TableModel::setRows(std::shared_ptr<const TableRows> rows)
{
    // A growing trace updates the same number of rows, so the view keeps its selection and scroll position.
    const bool sameShape = rows && m_rows && rows->size() == m_rows->size() && sameColumns(*rows, *m_rows);
    if (!sameShape)
        beginResetModel();
    m_rows = std::move(rows);
    if (!sameShape)
        endResetModel();
    else if (m_rows->size() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void TableModel::setDark(bool dark)
{
    m_dark = dark;
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::DecorationRole});
}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_rows ? 0 : static_cast<int>(std::min(m_rows->size(), kMostRows));
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_rows ? 0 : static_cast<int>(m_rows->columns().size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto row = static_cast<std::size_t>(index.row()), column = static_cast<std::size_t>(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return shownText(m_rows->value(row, column));
    case Qt::ToolTipRole:
        if (const TableValue value = m_rows->value(row, column); column == 0 || !value.label.isEmpty())
            return fullText(value);
        return {};
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((m_rows->columns()[column].figure ? Qt::AlignRight : Qt::AlignLeft) |
                                   Qt::AlignVCenter);
    case Qt::DecorationRole:
        return column == 0 ? QVariant(swatch(m_rows->sliceClass(row), m_dark)) : QVariant();
    default:
        return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const TableColumn& column = m_rows->columns()[static_cast<std::size_t>(section)];
    switch (role) {
    case Qt::DisplayRole:
        return column.title;
    case Qt::ToolTipRole:
        return column.what.isEmpty() ? QVariant() : column.what;
    case Qt::InitialSortOrderRole:
        return column.figure ? Qt::DescendingOrder : Qt::AscendingOrder; // the first click sorts the largest values
                                                                         // first
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((column.figure ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    default:
        return {};
    }
}

/// Headings with a sort indicator for each key of an order. With several keys, small digits number them.
class TableHeader : public QHeaderView {
public:
    explicit TableHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}

    /// @param order  of columns of the view
    void setOrder(TableOrder order)
    {
        m_order = std::move(order);
        viewport()->update();
    }

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override
    {
        QHeaderView::initStyleOptionForIndex(option, section);
        static constexpr std::array kDigits = {u'¹', u'²', u'³', u'⁴', u'⁵', u'⁶', u'⁷', u'⁸', u'⁹'};
        option->sortIndicator = QStyleOptionHeader::None;
        for (std::size_t i = 0; i < m_order.size(); ++i) {
            if (m_order[i].column != section)
                continue;
            option->sortIndicator = m_order[i].descending ? QStyleOptionHeader::SortUp : QStyleOptionHeader::SortDown;
            if (m_order.size() > 1)
                option->text += QChar(kDigits[std::min(i, kDigits.size() - 1)]);
        }
    }

private:
    TableOrder m_order;
};

TableView::TableView(const QString& accessibleName, QWidget* parent)
    : QTableView(parent), m_model(new TableModel(this)), m_heads(new TableHeader(this))
{
    setHorizontalHeader(m_heads);
    m_model->setDark(isDark(palette()));
    setModel(m_model);
    m_heads->setSortIndicatorShown(true);
    m_heads->setSectionsClickable(true);
    m_heads->setSectionsMovable(true);
    m_heads->setHighlightSections(false);
    m_heads->setResizeContentsPrecision(0); // visible rows only, because there may be millions
    m_heads->setContextMenuPolicy(Qt::CustomContextMenu);
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
    connect(m_heads, &QHeaderView::sectionClicked, this,
            [this](int section) { sortBy(section, QApplication::keyboardModifiers().testFlag(Qt::ShiftModifier)); });
    connect(m_heads, &QHeaderView::customContextMenuRequested, this, &TableView::showColumnMenu);
    connect(m_heads, &QHeaderView::sectionMoved, this, &TableView::saveColumns);
    connect(m_heads, &QHeaderView::sectionResized, this, [this] { m_widthsByUser = m_widthsByUser || !m_fitting; });
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { emit rowActivated(static_cast<std::size_t>(index.row())); });
}

void TableView::setRows(std::shared_ptr<const TableRows> rows, const QString& columnsKey)
{
    m_quiet = true;
    const int columns = m_model->columnCount();
    m_fitting = true;
    m_model->setRows(std::move(rows));
    m_columnsKey = columnsKey;
    arrangeColumns();
    m_fitting = false;
    m_quiet = false;
    if (columns != m_model->columnCount())
        m_widthsByUser = false;
    if (!m_widthsByUser)
        fitColumns();
}

void TableView::markOrder(TableOrder order)
{
    m_order = std::move(order);
    TableOrder sections;
    for (const SortKey& key : m_order)
        for (int i = 0; i < m_model->columnCount(); ++i)
            if (m_model->rows()->columns()[static_cast<std::size_t>(i)].id == key.column)
                sections.push_back({i, key.descending});
    m_heads->setOrder(std::move(sections));
}

/// The first click on a heading sorts by its column, the second one in the other direction, the third one not at all.
/// @param further  keeps the columns that the rows are sorted by so far
void TableView::sortBy(int column, bool further)
{
    if (column < 0 || column >= m_model->columnCount())
        return;
    const TableColumn& by = m_model->rows()->columns()[static_cast<std::size_t>(column)];
    TableOrder order = m_order;
    if (!further)
        std::erase_if(order, [&](const SortKey& key) { return key.column != by.id; });
    const bool wasAmongSeveral = !further && m_order.size() > 1;
    const auto key = std::find_if(order.begin(), order.end(), [&](const SortKey& k) { return k.column == by.id; });
    if (key == order.end() || wasAmongSeveral) {
        if (key != order.end())
            order.erase(key);
        order.push_back({by.id, by.figure}); // the largest numbers first
    } else if (key->descending == by.figure) {
        key->descending = !key->descending;
    } else {
        order.erase(key);
    }
    markOrder(order);
    emit orderChanged(order);
}

TableColumns TableView::shownColumns() const
{
    TableColumns columns;
    for (int at = 0; at < m_heads->count(); ++at)
        if (const int column = m_heads->logicalIndex(at); !m_heads->isSectionHidden(column))
            columns.push_back(static_cast<std::size_t>(column));
    return columns;
}

void TableView::setColumnShown(int column, bool shown)
{
    if (!shown && shownColumns().size() <= 1)
        return;
    m_heads->setSectionHidden(column, !shown);
    saveColumns();
    if (!m_widthsByUser)
        fitColumns();
}

void TableView::resetColumns()
{
    QSettings().remove(m_columnsKey);
    arrangeColumns();
    m_widthsByUser = false;
    fitColumns();
}

/// Applies the user's choice: keywords from left to right, with a minus sign for hidden columns.
void TableView::arrangeColumns()
{
    if (!m_model->rows())
        return;
    const QStringList chosen = m_columnsKey.isEmpty() ? QStringList() : QSettings().value(m_columnsKey).toStringList();
    const auto& columns = m_model->rows()->columns();
    const auto place = [&](const TableColumn& column) {
        const qsizetype shown = chosen.indexOf(column.keyword);
        return shown >= 0 ? shown : chosen.indexOf(u'-' + column.keyword);
    };
    std::vector<int> order(columns.size());
    std::iota(order.begin(), order.end(), 0);
    // Columns without a place stay where they are by default: after those with one.
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        const qsizetype left = place(columns[static_cast<std::size_t>(a)]),
                        right = place(columns[static_cast<std::size_t>(b)]);
        return left >= 0 && (right < 0 || left < right);
    });
    m_arranging = true;
    for (std::size_t at = 0; at < order.size(); ++at) {
        const TableColumn& column = columns[static_cast<std::size_t>(order[at])];
        m_heads->moveSection(m_heads->visualIndex(order[at]), static_cast<int>(at));
        const bool hidden = place(column) < 0 ? !column.shown : !chosen.contains(column.keyword);
        m_heads->setSectionHidden(order[at], hidden);
    }
    if (shownColumns().empty() && !order.empty())
        m_heads->setSectionHidden(0, false);
    m_arranging = false;
}

void TableView::saveColumns()
{
    if (m_arranging || m_columnsKey.isEmpty() || !m_model->rows())
        return;
    const auto& columns = m_model->rows()->columns();
    QStringList chosen;
    for (int at = 0; at < m_heads->count(); ++at) {
        const int column = m_heads->logicalIndex(at);
        const QString& keyword = columns[static_cast<std::size_t>(column)].keyword;
        chosen << (m_heads->isSectionHidden(column) ? u'-' + keyword : keyword);
    }
    // Other traces have other columns.
    QSettings settings;
    for (const QString& other : settings.value(m_columnsKey).toStringList()) {
        const QString keyword = other.startsWith(u'-') ? other.mid(1) : other;
        if (!chosen.contains(keyword) && !chosen.contains(u'-' + keyword))
            chosen << other;
    }
    settings.setValue(m_columnsKey, chosen);
}

void TableView::showColumnMenu(QPoint at)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    addColumnActions(menu);
    menu->popup(m_heads->viewport()->mapToGlobal(at));
}

void TableView::addColumnActions(QMenu* menu)
{
    if (!m_model->rows())
        return;
    const auto& columns = m_model->rows()->columns();
    QMenu* first = menu->addMenu(tr("Sort by"));
    QMenu* further = menu->addMenu(tr("Then by (Shift+click)"));
    menu->addSeparator();
    for (int i = 0; i < m_model->columnCount(); ++i) {
        const TableColumn& column = columns[static_cast<std::size_t>(i)];
        first->addAction(column.title, this, [this, i] { sortBy(i, false); });
        further->addAction(column.title, this, [this, i] { sortBy(i, true); });
        QAction* show = menu->addAction(column.title, this, [this, i](bool shown) { setColumnShown(i, shown); });
        show->setObjectName(QStringLiteral("column:") + column.keyword);
        show->setCheckable(true);
        show->setChecked(!m_heads->isSectionHidden(i));
        show->setToolTip(column.what);
    }
    menu->addSeparator();
    menu->addAction(tr("Reset columns"), this, &TableView::resetColumns)->setObjectName("columnsReset");
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

std::size_t TableView::selectedCount() const
{
    std::size_t count = 0;
    for (const QItemSelectionRange& range : selectionModel()->selection())
        count += static_cast<std::size_t>(range.height());
    return count;
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
        if (isColumnHidden(column))
            continue;
        const int wanted = std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column)) + 6;
        setColumnWidth(column, std::min(wanted, kWidestOther));
        others += columnWidth(column);
    }
    // A numeric first column is only as wide as its values.
    const bool name = !m_model->rows()->columns().front().figure;
    const int first = std::max(sizeHintForColumn(0), horizontalHeader()->sectionSizeHint(0)) + 12;
    if (!isColumnHidden(0))
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
