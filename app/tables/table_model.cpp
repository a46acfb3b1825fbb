#include "app/tables/table_model.h"

#include "app/look/swatch.h"

#include <algorithm>

namespace app {

namespace {

// View heights are ints in pixels; more rows than this would overflow.
constexpr std::size_t kMostRows = 50'000'000;

bool sameColumns(const TableRows& a, const TableRows& b)
{
    const auto same = [](const TableColumn& x, const TableColumn& y) { return x.title == y.title; };
    return std::equal(a.columns().begin(), a.columns().end(), b.columns().begin(), b.columns().end(), same);
}

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

} // namespace app
