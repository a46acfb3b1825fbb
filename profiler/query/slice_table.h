#pragma once

#include "profiler/query/session.h"

namespace profiler::query {

/// Makes the table `slice` readable by SQL. Conditions on id, ts, dur, ts_end, name, kind, track, depth, step, parent
/// and correlation select slices without a visit to the others; rows are delivered in an order by name, kind, track,
/// depth and step, so that GROUP BY does not sort. The session must outlive the connection.
/// @return a result code of SQLite
int addSliceTable(sqlite3* database, const Session& session);

} // namespace profiler::query
