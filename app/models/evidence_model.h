#pragma once

#include "app/look/kind_palette.h"
#include "app/models/step_parts.h"

#include <QAbstractTableModel>
#include <QString>
#include <optional>
#include <vector>

namespace app {

/// A cell: what is shown, and what it is sorted by.
struct EvidenceCell {
    QString text;
    double number = 0; ///< of number columns
};

/// A row of a table whose rows lead somewhere.
struct EvidenceRow {
    std::vector<EvidenceCell> cells;
    std::optional<SliceClass> swatch; ///< colour beside the first cell
    Evidence evidence;
    QString key; ///< what the row is about, for the view that made it
};

/// Rows with figures, a colour and a place in the trace that shows them.
class EvidenceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    struct Column {
        QString title;
        bool number = false; ///< right-aligned, sorted by value
    };
    static constexpr int kSortRole = Qt::UserRole;

    explicit EvidenceModel(std::vector<Column> columns, QObject* parent = nullptr);

    void setRows(std::vector<EvidenceRow> rows);
    [[nodiscard]] const EvidenceRow& row(int index) const { return m_rows[static_cast<std::size_t>(index)]; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    /// Swatches follow the theme.
    void setDark(bool dark);

private:
    std::vector<Column> m_columns;
    std::vector<EvidenceRow> m_rows;
    bool m_dark = false;
};

} // namespace app
