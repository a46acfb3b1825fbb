#pragma once

#include "app/tables/table_model.h"
#include "app/tables/table_query.h"

#include <QTableView>
#include <vector>

namespace app {

/// The table view: sorted by a click on a heading, selected by mouse or keyboard, copied with Ctrl+C.
class TableView : public QTableView {
    Q_OBJECT
public:
    explicit TableView(const QString& accessibleName, QWidget* parent);

    [[nodiscard]] TableModel* table() const { return m_model; }
    void setRows(std::shared_ptr<const TableRows> rows);
    /// Shows the sort indicator on a column.
    void markOrder(TableOrder order);
    /// Moves to a row without emitting rowChosen().
    void showRow(std::optional<std::size_t> row);
    [[nodiscard]] std::optional<std::size_t> currentRow() const;
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
    void fitColumns();

    TableModel* m_model;
    bool m_quiet = false; ///< the current row is being set by the program
    bool m_widthsByUser = false, m_fitting = false;
};

} // namespace app
