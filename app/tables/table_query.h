#pragma once

#include "app/tables/table_rows.h"
#include "app/tables/table_subject.h"
#include "profiler/model/trace.h"

#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace app {

/// Filter of a table.
struct TableFilter {
    QString text;                             ///< substring of the name, case-insensitive; empty: all slices
    bool pattern = false;                     ///< `text` is a regular expression
    std::optional<profiler::TimeRange> range; ///< only slices that overlap it
    std::optional<profiler::StringId> name;   ///< only slices with exactly this name
    friend bool operator==(const TableFilter&, const TableFilter&) = default;
};

/// The syntax error in the filter's pattern; empty if it is valid.
QString patternProblem(const TableFilter& filter);

struct TableOrder {
    int column = -1; ///< TableColumn::id; −1: default order, which is start time for slices and steps, and total time
                     ///< (largest first) for groups
    bool descending = false;
    friend bool operator==(const TableOrder&, const TableOrder&) = default;
};

/// The complete input of a table.
struct TableQuery {
    TableFilter filter;
    TableOrder order;
    bool grouped = true;                ///< one row per name and kind, otherwise one per slice
    std::shared_ptr<const Steps> steps; ///< never null
};

/// Runs a query: one pass over the trace, then a sort. Runs on its own thread.
/// @param progress  called occasionally with a share in [0, 1]
/// @return null if stopped
std::shared_ptr<const TableRows> runQuery(const std::shared_ptr<const profiler::Trace>& trace,
                                          const TableSubject& subject, const TableQuery& query,
                                          const std::function<void(double)>& progress = {},
                                          const std::stop_token& stop = {});

/// The same groups in another order, without another pass over the trace; null for rows that are not groups.
std::shared_ptr<const TableRows> reordered(const std::shared_ptr<const TableRows>& groups, TableOrder order);

} // namespace app
