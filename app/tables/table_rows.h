#pragma once

#include "app/look/kind_palette.h"
#include "app/tables/table_field.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

// The rows of a table, and their text for other programs.
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

/// Positions in TableRows::columns(), in the order in which they are shown.
using TableColumns = std::vector<std::size_t>;
TableColumns allColumns(const TableRows& table);

/// Rows as text for other programs, with exact values: a heading, then one line per row.
enum class TableText {
    Csv, ///< format of profiler::formats::writers::appendCsvRow()
    Tsv, ///< for pasting into spreadsheets; tabs and line ends in cells become spaces
};

/// May be called on any thread.
/// @param rows      row positions; keep them few, because the whole text is in memory
/// @param progress  called occasionally with a share in [0, 1]
/// @return the text of the rows up to the point where it was stopped
QString tableText(const TableRows& table, std::span<const std::size_t> rows, const TableColumns& columns,
                  TableText kind, const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

/// Writes all rows as UTF-8 CSV. Leaves no file behind if it fails or is stopped.
profiler::Result<void> saveCsv(const TableRows& table, const TableColumns& columns, const std::filesystem::path& path,
                               const std::function<void(double)>& progress = {}, const std::stop_token& stop = {});

} // namespace app
