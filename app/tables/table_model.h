#pragma once

#include "app/tables/table_rows.h"

#include <QAbstractTableModel>
#include <memory>

namespace app {

/// Rows for a view. A background query delivers all of them at once; the model only formats visible cells.
class TableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Null: no rows and no columns.
    void setRows(std::shared_ptr<const TableRows> rows);
    [[nodiscard]] const std::shared_ptr<const TableRows>& rows() const { return m_rows; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// Updates the swatches after a theme change.
    void setDark(bool dark);

private:
    std::shared_ptr<const TableRows> m_rows;
    bool m_dark = false;
};

} // namespace app
