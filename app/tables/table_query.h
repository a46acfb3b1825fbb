#pragma once

#include "app/tables/table_rows.h"
#include "app/tables/table_subject.h"
#include "profiler/model/trace.h"

#include <QString>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

namespace app {

/// Filter of a table.
struct TableFilter {
    Filter conditions;                        ///< of filterFields(), or stepFilterFields() for a table of steps
    std::optional<profiler::TimeRange> range; ///< only slices that overlap it
    friend bool operator==(const TableFilter&, const TableFilter&) = default;
};

/// The device times of the operators of one trace, computed when the first query needs them. Thread-safe.
class OpDeviceTimesCache {
public:
    explicit OpDeviceTimesCache(std::shared_ptr<const profiler::Trace> trace) : m_trace(std::move(trace)) {}
    /// Null if stopped.
    std::shared_ptr<const profiler::analysis::OpDeviceTimes> get(const std::stop_token& stop);

private:
    std::shared_ptr<const profiler::Trace> m_trace;
    std::mutex m_lock; ///< held during the computation
    std::shared_ptr<const profiler::analysis::OpDeviceTimes> m_times;
};

/// The complete input of a table.
struct TableQuery {
    TableFilter filter;
    TableOrder order;
    TableGrouping grouping{Field::Name};
    std::shared_ptr<const Steps> steps;              ///< never null
    std::shared_ptr<OpDeviceTimesCache> deviceTimes; ///< of the trace; null: without device times
};

/// Runs a query: one pass over the trace, then a sort. Runs on its own thread.
/// @param progress  called occasionally with a share in [0, 1]
/// @return null if stopped
std::shared_ptr<const TableRows> runQuery(const std::shared_ptr<const profiler::Trace>& trace,
                                          const TableSubject& subject, const TableQuery& query,
                                          const std::function<void(double)>& progress = {},
                                          const std::stop_token& stop = {});

/// What a filter can ask about a table of steps. The remark comes first.
std::vector<FilterField> stepFilterFields();
/// What a filter can ask about a table.
std::vector<FilterField> filterFieldsOf(const TableSubject& subject, const TableGrouping& grouping);

} // namespace app
