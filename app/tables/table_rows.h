#pragma once

#include "app/look/kind_palette.h"
#include "app/tables/table_field.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace app {

struct TableColumn {
    int id = 0;          ///< sort id in a TableOrder: a Field, or a part of a step
    QString keyword;     ///< in filters and settings
    QString title, what; ///< tooltip: one sentence
    QString exactUnit;   ///< unit of the values in a file; empty: none
    bool figure = false;
    bool shown = true; ///< unless the user chooses otherwise
};

struct SortKey {
    int column = -1; ///< TableColumn::id
    bool descending = false;
    friend bool operator==(const SortKey&, const SortKey&) = default;
};
/// The first key decides, the next ones order rows that are equal. Empty: the default order, which is start time for
/// slices and steps, and total time (largest first) for groups.
using TableOrder = std::vector<SortKey>;

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
    /// Terms of a filter that only the slices of this row fulfil; empty for rows that are not groups.
    [[nodiscard]] virtual QString filterTerms(std::size_t) const { return {}; }
    /// The same rows in another order, without another search of the trace.
    /// @return null if stopped
    [[nodiscard]] virtual std::shared_ptr<const TableRows> sorted(const TableOrder& order,
                                                                  const std::stop_token& stop = {}) const = 0;
    /// The trace of the rows.
    [[nodiscard]] virtual const profiler::Trace& trace() const = 0;
};

/// "Duration (ns)": the heading of a column in a file.
QString exactTitle(const TableColumn& column);

} // namespace app
