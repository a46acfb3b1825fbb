#pragma once

#include "profiler/query/query.h"
#include "profiler/query/schema.h"

#include <sqlite3.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <stop_token>
#include <vector>

/// The tables of a query as virtual tables of SQLite, and what they share.
namespace profiler::query {

/// What the virtual tables of one query share. Used on the thread of the query.
struct Session {
    const Source& source;
    std::stop_token stop;
    std::chrono::steady_clock::time_point deadline;

    [[nodiscard]] const Trace& trace() const { return *source.trace; }
    [[nodiscard]] bool isLate() const { return std::chrono::steady_clock::now() >= deadline; }
    [[nodiscard]] bool mustStop() const { return stop.stop_requested() || isLate(); }
    /// The step that contains a time.
    [[nodiscard]] const analysis::Step* stepAt(TraceTime time) const;
};

/// Sets the result of a column to a text of the trace, which lives longer than the query.
inline void resultText(sqlite3_context* context, std::string_view text)
{
    sqlite3_result_text(context, text.data() ? text.data() : "", static_cast<int>(text.size()), SQLITE_STATIC);
}

/// Runs a callback of SQLite, which is written in C: no exception may leave it.
template <class Work>
int guarded(Work&& work) noexcept
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const std::exception&) {
        return SQLITE_ERROR;
    }
}

/// The collected rows of a table.
struct Rows {
    std::size_t count = 0;
    /// Sets the result of `context` to the value of a cell. Texts must live as long as the Rows.
    std::function<void(sqlite3_context* context, std::size_t row, int column)> cell;
};

/// A table whose rows are collected when a query reads it: tracks, steps, counters, flows, devices, metadata, and those
/// of the caller.
struct RowTable {
    TableInfo info;
    std::function<Rows(const Session&)> all;
    /// The rows whose `column` has this value, without collecting the others; for the first `indexed` columns.
    std::function<Rows(const Session&, int column, std::int64_t value)> where{};
    int indexed = 0;
};

/// The tables of a trace besides `slice`.
std::span<const RowTable> traceTables();
/// A table of the caller.
RowTable extraRowTable(const ExtraTable& extra);

/// Makes a table readable by SQL. Both must outlive the connection.
/// @return a result code of SQLite
int addRowTable(sqlite3* database, const RowTable& table, const Session& session);

/// Makes the table `slice` readable by SQL. Conditions on id, ts, dur, ts_end, name, kind, track, depth, step, parent
/// and correlation select slices without a visit to the others; rows are delivered in an order by name, kind, track,
/// depth and step, so that GROUP BY does not sort. The session must outlive the connection.
/// @return a result code of SQLite
int addSliceTable(sqlite3* database, const Session& session);

} // namespace profiler::query
