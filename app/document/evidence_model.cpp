#include "app/document/evidence_model.h"

#include "app/look/kind_palette.h"

namespace app {

EvidenceModel::EvidenceModel(std::vector<Column> columns, QObject* parent)
    : QAbstractTableModel(parent), m_columns(std::move(columns))
{
}

void EvidenceModel::setRows(std::vector<EvidenceRow> rows)
{
    // A growing trace updates the same rows, so the view keeps its selection and scroll position.
    const bool sameRows = rows.size() == m_rows.size();
    if (!sameRows)
        beginResetModel();
    m_rows = std::move(rows);
    if (!sameRows)
        endResetModel();
    else if (!m_rows.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void EvidenceModel::setDark(bool dark)
{
    m_dark = dark;
    if (!m_rows.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::DecorationRole});
}

int EvidenceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int EvidenceModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant EvidenceModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const EvidenceRow& shown = row(index.row());
    const auto column = static_cast<std::size_t>(index.column());
    const EvidenceCell& cell = shown.cells[column];
    const bool number = m_columns[column].number;
    switch (role) {
    case Qt::DisplayRole:
        return cell.text;
    case Qt::ToolTipRole:
        return cell.full.isEmpty() ? cell.text : cell.full;
    case kSortRole:
        return number ? QVariant(cell.number) : QVariant(cell.text);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::DecorationRole:
        return index.column() == 0 && shown.swatch ? QVariant(swatch(*shown.swatch, m_dark)) : QVariant();
    default:
        return {};
    }
}

QVariant EvidenceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const Column& column = m_columns[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return column.title;
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return {};
}

} // namespace app
