#pragma once

#include "app/tables/table_query.h"
#include "app/tables/table_rows.h"

#include <QAbstractTableModel>
#include <QTableView>
#include <memory>
#include <vector>

class QMenu;

namespace app {

class TableHeader;

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

/// The table view: sorted by a click on a heading (Shift+click: by a further column), selected by mouse or keyboard,
/// copied with Ctrl+C. The context menu of the heading chooses the columns.
class TableView : public QTableView {
    Q_OBJECT
public:
    explicit TableView(const QString& accessibleName, QWidget* parent);

    [[nodiscard]] TableModel* table() const { return m_model; }
    /// @param columnsKey  the setting that keeps the user's choice of columns
    void setRows(std::shared_ptr<const TableRows> rows, const QString& columnsKey = {});
    /// Shows the sort indicators of an order.
    void markOrder(TableOrder order);
    /// The columns that are shown, from left to right.
    [[nodiscard]] TableColumns shownColumns() const;
    void setColumnShown(int column, bool shown);
    void resetColumns();
    /// Adds what a click on the headings and their context menu do, for the keyboard.
    void addColumnActions(QMenu* menu);
    /// Moves to a row without emitting rowChosen().
    void showRow(std::optional<std::size_t> row);
    [[nodiscard]] std::optional<std::size_t> currentRow() const;
    [[nodiscard]] std::size_t selectedCount() const;
    /// Indices of the selected rows, top to bottom.
    [[nodiscard]] std::vector<std::size_t> selectedRows() const;

signals:
    /// The user moved to a row.
    void rowChosen(std::size_t row);
    void rowActivated(std::size_t row); ///< Return, or a double click
    void orderChanged(app::TableOrder order);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

private:
    void sortBy(int column, bool further);
    void arrangeColumns();
    void saveColumns();
    void showColumnMenu(QPoint at);
    void fitColumns();

    TableModel* m_model;
    TableHeader* m_heads;
    TableOrder m_order;
    QString m_columnsKey;
    bool m_arranging = false; ///< columns are being moved by the program
    bool m_quiet = false;     ///< the current row is being set by the program
    bool m_widthsByUser = false, m_fitting = false;
};

} // namespace app
