#pragma once

#include "profiler/query/query.h"

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

namespace app {

/// The result of a query as a table. Values are formatted when they are displayed, so a million rows cost nothing.
class ResultModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// @param begin  start of the trace, from which positions in time are shown
    void show(std::shared_ptr<const profiler::query::ResultTable> table, profiler::TraceTime begin);
    [[nodiscard]] const std::shared_ptr<const profiler::query::ResultTable>& table() const { return m_table; }

    /// The slice that a row is about: the first column with ids of slices.
    [[nodiscard]] std::optional<std::int64_t> sliceKey(int row) const;
    /// The time that a row is about: its first position in time, and its duration or its next position.
    [[nodiscard]] std::optional<profiler::TimeRange> range(int row) const;

    /// Exact values as text: all rows, or some of them.
    [[nodiscard]] QString csv(const std::vector<int>& rows, QChar separator) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] const profiler::query::Value& value(int row, int column) const;
    [[nodiscard]] std::optional<std::int64_t> integer(int row, int column) const;
    [[nodiscard]] QString cellText(int row, int column) const;

    std::shared_ptr<const profiler::query::ResultTable> m_table;
    profiler::TraceTime m_begin{};
    std::vector<bool> m_isNumeric; ///< by column: right-aligned
};

} // namespace app
