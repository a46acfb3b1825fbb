#pragma once

#include "app/tables/table_query.h"

#include <QRegularExpression>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

// The parts of a query.
namespace app {

/// Tests whether names match a filter. Each distinct name is tested once.
class NameMatcher {
public:
    NameMatcher(const profiler::Trace& trace, const TableFilter& filter);
    bool operator()(profiler::StringId name);

private:
    enum class Known : std::uint8_t { Unknown, Yes, No };
    const profiler::Trace* m_trace;
    const TableFilter* m_filter;
    QRegularExpression m_pattern;
    std::vector<Known> m_known; ///< by StringId
};

std::vector<TableColumn> columnsOf(const std::vector<Field>& fields);

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
bool scan(const profiler::Trace& trace, const TableSubject& subject, const TableFilter& filter, ScanProgress progress,
          const std::stop_token& stop, const std::function<void(const profiler::Slice&)>& visit);

std::shared_ptr<const TableRows> makeSliceRows(const std::shared_ptr<const profiler::Trace>& trace,
                                               const TableSubject& subject, const TableQuery& query,
                                               const std::function<void(double)>& progress,
                                               const std::stop_token& stop);
std::shared_ptr<const TableRows> makeGroupRows(const std::shared_ptr<const profiler::Trace>& trace,
                                               const TableSubject& subject, const TableQuery& query,
                                               const std::function<void(double)>& progress,
                                               const std::stop_token& stop);

/// One row per step: start, duration, and the time of its parts. Parts that occur in no step are left out.
std::shared_ptr<const TableRows> makeStepRows(const std::shared_ptr<const profiler::Trace>& trace,
                                              const TableQuery& query, const std::stop_token& stop);

} // namespace app
