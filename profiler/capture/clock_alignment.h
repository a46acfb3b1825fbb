#pragma once

#include "profiler/io/wire/records.h"
#include "profiler/model/clock.h"

#include <cstdint>
#include <vector>

namespace profiler::capture {

/// The three clocks at one moment. The reads are taken closely together, the closest of a few tries kept.
wire::ClockTriple readClocks();

/// Converts times of other clocks into trace time (CLOCK_MONOTONIC), from triples taken during the run. Between two
/// triples it interpolates, so a clock that drifts or is slewed is followed; a step of REALTIME lies between two
/// triples and is off by at most the step in that gap only. Before the first and after the last it extrapolates:
/// REALTIME with the rate 1, the TSC with the rate of all triples.
class ClockAlignment {
public:
    /// Triples may come in any order; one whose times run backwards against its neighbours is left out.
    void add(const wire::ClockTriple& triple);
    [[nodiscard]] bool empty() const { return m_triples.empty(); }

    /// @param realtimeNs  CLOCK_REALTIME, ns since the epoch. With no triple the number is returned as it is.
    [[nodiscard]] TraceTime fromRealtime(std::int64_t realtimeNs) const;
    /// @return CLOCK_REALTIME in ns since the epoch.
    [[nodiscard]] std::int64_t toRealtime(TraceTime time) const;
    /// @param tsc  time-stamp counter. Needs two triples, else the number is returned as it is.
    [[nodiscard]] TraceTime fromTsc(std::uint64_t tsc) const;

private:
    std::vector<wire::ClockTriple> m_triples; ///< by monotonic time
};

} // namespace profiler::capture
