#pragma once

#include "profiler/formats/container/records.h"
#include "profiler/model/clock.h"

#include <cstdint>
#include <vector>

namespace profiler::capture {

/// Reads the three clocks at one moment. Several attempts are made, and the one with the shortest delay between the
/// reads is kept.
wire::ClockTriple readClocks();

/// Converts times of other clocks into trace time (CLOCK_MONOTONIC), using triples taken during the run. Between two
/// triples it interpolates, so it follows a clock that drifts or is slewed; a step of REALTIME between two triples
/// causes an error of at most the step, in that gap only. Before the first and after the last triple it extrapolates:
/// REALTIME at rate 1, the TSC at the rate over all triples.
class ClockAlignment {
public:
    /// Triples may be added in any order; one that contradicts the order of its neighbours is ignored.
    void add(const wire::ClockTriple& triple);
    [[nodiscard]] bool empty() const { return m_triples.empty(); }

    /// @param realtimeNs  CLOCK_REALTIME, ns since the epoch. Without any triple it is returned unchanged.
    [[nodiscard]] TraceTime fromRealtime(std::int64_t realtimeNs) const;
    /// @return CLOCK_REALTIME in ns since the epoch.
    [[nodiscard]] std::int64_t toRealtime(TraceTime time) const;
    /// @param tsc  time-stamp counter. With fewer than two triples it is returned unchanged.
    [[nodiscard]] TraceTime fromTsc(std::uint64_t tsc) const;

private:
    std::vector<wire::ClockTriple> m_triples; ///< sorted by monotonic time
};

} // namespace profiler::capture
