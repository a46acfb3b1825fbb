#pragma once

#include "app/models/table_rows.h"
#include "app/models/table_subject.h"
#include "profiler/model/trace.h"

#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace app {

/// Which slices a table shows.
struct TableFilter {
    QString text;                             ///< within the name, whatever the case; empty: all
    bool pattern = false;                     ///< `text` is a regular expression
    std::optional<profiler::TimeRange> range; ///< only what overlaps it
    std::optional<profiler::StringId> name;   ///< only slices of this very name
    friend bool operator==(const TableFilter&, const TableFilter&) = default;
};

/// What a filter's pattern lacks to be one; empty when it is one.
QString patternProblem(const TableFilter& filter);

struct TableOrder {
    int column =
        -1; ///< TableColumn::id; −1: as comes naturally, slices and steps by begin, groups by time with the most first
    bool descending = false;
    friend bool operator==(const TableOrder&, const TableOrder&) = default;
};

/// Everything that a table shows follows from this.
struct TableQuery {
    TableFilter filter;
    TableOrder order;
    bool grouped = true;                ///< one row a name (and kind), else one a slice
    std::shared_ptr<const Steps> steps; ///< never null
};

/// Runs a query: one pass over the trace, then a sort. For a thread of its own.
/// @param progress  called with shares of [0, 1] now and then
/// @return null when asked to stop
std::shared_ptr<const TableRows> runQuery(const std::shared_ptr<const profiler::Trace>& trace,
                                          const TableSubject& subject, const TableQuery& query,
                                          const std::function<void(double)>& progress = {},
                                          const std::stop_token& stop = {});

/// The same groups in another order, without looking at the trace again; null for rows that are no groups.
std::shared_ptr<const TableRows> reordered(const std::shared_ptr<const TableRows>& groups, TableOrder order);

} // namespace app
