#pragma once

#include "profiler/query/schema.h"
#include "profiler/query/session.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

/// Tables whose rows are collected when a query reads them: tracks, steps, counters, flows, devices, metadata, and
/// those of the caller.
namespace profiler::query {

/// The collected rows of such a table.
struct Rows {
    std::size_t count = 0;
    /// Sets the result of `context` to the value of a cell. Texts must live as long as the Rows.
    std::function<void(sqlite3_context* context, std::size_t row, int column)> cell;
};

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

} // namespace profiler::query
