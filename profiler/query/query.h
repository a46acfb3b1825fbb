#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"
#include "profiler/query/schema.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// SQL over a trace: SQLite's own engine on virtual tables that read the columns of the trace. schema.h lists the
/// tables.
namespace profiler::query {

/// A cell: NULL, INTEGER, REAL, or TEXT (a BLOB is returned as text).
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A table that the caller provides, such as the findings of the advisor.
struct ExtraTable {
    TableInfo info;
    /// Called at most once per query, on the thread of the query, and only if the query reads the table. Each row has
    /// one value for each column.
    std::function<std::vector<std::vector<Value>>()> rows;
};

/// What a query may read.
struct Source {
    std::shared_ptr<const Trace> trace;  ///< never null
    std::vector<analysis::Step> steps{}; ///< rows of the table `step`; empty: the trace has no steps
    std::vector<ExtraTable> extraTables{};
};

/// Limits of one query. SQLite's own limit on heap memory covers the whole process, so memory is bounded by its parts:
/// sorting and grouping use at most 64 MiB of memory and then a temporary file, a single value has at most 16 MiB, an
/// order by name, kind, track, depth or step takes 28 bytes per slice, and the result is cut at `rows` and `bytes`.
struct Limits {
    std::size_t rows = 1'000'000;               ///< more rows are not returned, see ResultTable::isCut
    std::size_t bytes = std::size_t{256} << 20; ///< memory of the returned values
    std::chrono::milliseconds time{30'000};     ///< the query then ends with the error query.timeout
};

struct ResultColumn {
    std::string name;
    Unit unit = Unit::None;
};

/// The result of a query. Immutable after it was returned.
struct ResultTable {
    std::vector<ResultColumn> columns;
    std::vector<Value> values; ///< row by row
    std::size_t rows = 0;
    bool isCut = false; ///< the query has more rows than Limits allow
    std::chrono::nanoseconds elapsed{};

    [[nodiscard]] const Value& at(std::size_t row, std::size_t column) const
    {
        return values[row * columns.size() + column];
    }
};

/// Runs one SELECT statement. Everything else is refused: the statement can neither write nor open a file.
/// Callable from any thread; queries do not share any state.
/// @param sql   UTF-8, one statement
/// @param stop  ends the query with Error::Code::Cancelled within 50 ms
/// @return errors: query.empty, query.several, query.not_select, query.sql (with the parameters "line" and "column",
/// counted from 1, if SQLite knows the position), query.timeout, query.stopped, query.too_big, query.no_memory
Result<ResultTable> runQuery(const Source& source, std::string_view sql, const Limits& limits = {},
                             const std::stop_token& stop = {});

/// The `id` of a slice in SQL.
constexpr std::int64_t sliceKey(SliceId id)
{
    return static_cast<std::int64_t>(std::uint64_t{id.track.value} << 32 | id.ordinal);
}
/// The slice with an `id`; none if the trace does not have it.
std::optional<SliceId> sliceOfKey(const Trace& trace, std::int64_t key);

/// The unit of a result column that is not simply a column of a table: SUM, AVG, MIN, MAX and TOTAL keep the unit of
/// the column that they are applied to, and the suffixes _ns and _bytes of a name state the unit.
Unit unitOfName(std::string_view name);

/// The line of an SQL text with an error, and a line below it with a caret at the position.
/// @return empty if the error has no position
std::string markedLine(std::string_view sql, const Error& error);

} // namespace profiler::query
