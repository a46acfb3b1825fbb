#pragma once

#include "app/tables/table_query.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

// The parts of a query.
namespace app {

/// Tests whether slices match the conditions of a filter that are about slices, not about groups. Looks at each
/// distinct text once.
class SliceMatcher {
public:
    SliceMatcher(const FieldContext& context, const Filter& filter);
    bool operator()(const profiler::Slice& slice);

private:
    enum class Known : std::uint8_t { Unknown, Yes, No };
    struct Test {
        FilterCondition condition;
        Field field;
        SliceKey key;
        std::vector<Known> known; ///< texts: by key + 1
    };
    bool matches(Test& test, const profiler::Slice& slice);

    FieldContext m_context;
    std::vector<Test> m_tests;
};

/// @param extra  fields that are hidden unless the user chooses them
std::vector<TableColumn> columnsOf(const std::vector<Field>& fields, const std::vector<Field>& extra);

/// Share of slices scanned so far; calls back about a hundred times.
class ScanProgress {
public:
    ScanProgress(std::size_t total, double from, double to, const std::function<void(double)>& tell)
        : m_total(total), m_every(std::max<std::size_t>(total / 50, 10'000)), m_from(from), m_to(to), m_tell(&tell)
    {
    }
    void step()
    {
        if (++m_done % m_every == 0 && *m_tell)
            (*m_tell)(m_from + (m_to - m_from) * static_cast<double>(m_done) / static_cast<double>(m_total));
    }

private:
    std::size_t m_total, m_every, m_done = 0;
    double m_from, m_to;
    const std::function<void(double)>* m_tell;
};

/// Slices of the subject that match the filter, track by track. False when stopped.
bool scan(const FieldContext& context, const TableSubject& subject, const TableFilter& filter, ScanProgress progress,
          const std::stop_token& stop, const std::function<void(const profiler::Slice&)>& visit);

/// @param deviceTimes  null if no column needs them
std::shared_ptr<const TableRows>
makeSliceRows(const std::shared_ptr<const profiler::Trace>& trace, const TableSubject& subject, const TableQuery& query,
              const std::shared_ptr<const profiler::analysis::OpDeviceTimes>& deviceTimes,
              const std::function<void(double)>& progress, const std::stop_token& stop);
std::shared_ptr<const TableRows>
makeGroupRows(const std::shared_ptr<const profiler::Trace>& trace, const TableSubject& subject, const TableQuery& query,
              const std::shared_ptr<const profiler::analysis::OpDeviceTimes>& deviceTimes,
              const std::function<void(double)>& progress, const std::stop_token& stop);

/// One row per step: start, duration, and the time of its parts. Parts that occur in no step are left out.
std::shared_ptr<const TableRows> makeStepRows(const std::shared_ptr<const profiler::Trace>& trace,
                                              const TableQuery& query, const std::stop_token& stop);

} // namespace app
