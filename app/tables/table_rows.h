#pragma once

#include "app/look/kind_palette.h"
#include "app/tables/table_field.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace app {

struct TableColumn {
    int id = 0;          ///< sort id in a TableOrder: a Field, or a part of a step
    QString title, what; ///< tooltip: one sentence
    QString exactUnit;   ///< unit of the values in a file; empty: none
    bool figure = false;
};

/// The rows of a table: an index into a trace, not a copy. Immutable, so any thread may read them.
class TableRows {
public:
    virtual ~TableRows() = default;

    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] virtual const std::vector<TableColumn>& columns() const = 0;
    [[nodiscard]] virtual TableValue value(std::size_t row, std::size_t column) const = 0;
    /// The slice that a row links to; for a group, the longest slice.
    [[nodiscard]] virtual profiler::SliceId slice(std::size_t row) const = 0;
    [[nodiscard]] virtual SliceClass sliceClass(std::size_t row) const = 0;
    /// The row of a slice, if any. At most O(n), a few ms for ten million rows.
    [[nodiscard]] virtual std::optional<std::size_t> find(const profiler::Slice& slice) const = 0;
    /// The trace of the rows.
    [[nodiscard]] virtual const profiler::Trace& trace() const = 0;
};

/// "Duration (ns)": the heading of a column in a file.
QString exactTitle(const TableColumn& column);

} // namespace app
