#pragma once

#include "app/tables/filter_text.h"
#include "app/tables/table_field.h"
#include "app/tables/table_rows.h"
#include "profiler/model/activity.h"
#include "profiler/model/trace.h"

#include <QString>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

// What the tables of slices and steps show, and the query that finds their rows.
namespace app {

/// Fields whose values the slices of a group have in common; empty: one row per slice.
using TableGrouping = std::vector<Field>;

/// The subject of a table: kinds of slices and the columns that apply to them.
struct TableSubject {
    QString key;             ///< in settings
    QString title;           ///< "Kernels"
    QString none;            ///< shown if the trace has none
    std::uint32_t kinds = 0; ///< one bit per ActivityKind; 0: the steps, which have no names
    std::vector<Field> sliceFields, groupFields;
    std::vector<Field> extra;               ///< fields that are shown only if the user chooses them
    std::vector<TableGrouping> groupings{}; ///< first: initially. One row per slice is always possible.

    [[nodiscard]] bool hasNames() const { return kinds != 0; }
    [[nodiscard]] bool holds(profiler::ActivityKind kind) const { return (kinds >> static_cast<int>(kind) & 1) != 0; }
};

constexpr std::uint32_t kindBits(std::initializer_list<profiler::ActivityKind> kinds)
{
    std::uint32_t bits = 0;
    for (const profiler::ActivityKind kind : kinds)
        bits |= std::uint32_t{1} << static_cast<int>(kind);
    return bits;
}

// Subjects of the tables at the bottom of the window.
TableSubject kernelSubject();
TableSubject opSubject();
TableSubject copySubject();
TableSubject memsetSubject();
TableSubject runtimeSubject();
TableSubject rangeSubject();
TableSubject stepSubject();

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

/// The fields that a filter of a table of slices can test: those of its slices and, for a grouped table, of its groups.
/// `Name` comes first.
std::vector<FilterField> filterFields(bool grouped);
/// The same for a table of steps. The remark comes first.
std::vector<FilterField> stepFilterFields();
/// The same for any table.
std::vector<FilterField> filterFieldsOf(const TableSubject& subject, const TableGrouping& grouping);

} // namespace app
