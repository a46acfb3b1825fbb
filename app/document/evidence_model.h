#pragma once

#include "app/document/step_parts.h"
#include "app/look/kind_palette.h"

#include <QAbstractTableModel>
#include <QString>
#include <optional>
#include <vector>

namespace app {

/// A cell: the displayed text and its sort key.
struct EvidenceCell {
    QString text;
    double number = 0; ///< of number columns
    QString full{};    ///< of a shortened text: the whole, for the tooltip; empty: the text
};

/// A row with a link to the trace.
struct EvidenceRow {
    std::vector<EvidenceCell> cells;
    std::optional<SliceClass> swatch; ///< colour before the first cell
    Evidence evidence;
    QString key; ///< key of the row, for the view that created it
};

/// Rows with values, a colour, and the place in the trace that shows them.
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

    /// Updates the swatches after a theme change.
    void setDark(bool dark);

private:
    std::vector<Column> m_columns;
    std::vector<EvidenceRow> m_rows;
    bool m_dark = false;
};

} // namespace app
