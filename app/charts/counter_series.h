#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <vector>

namespace app {

/// The displayed time range of a trace: its slices; if none has a duration, its instants and counters, at least one
/// microsecond. Empty if there are none.
profiler::TimeRange shownRange(const profiler::Trace& trace);

/// The samples of a counter by time, with minimum and maximum queries for any interval that do not read each sample.
/// Grows with its trace.
class CounterSeries {
public:
    struct Extent {
        double least = 0, most = 0;
    };

    /// Adds new samples of `counter` since the last call, which was for this trace or an earlier snapshot of it. Late
    /// samples are inserted by time, after others with the same time.
    void read(const profiler::Trace& trace, profiler::TrackId counter);

    [[nodiscard]] const std::vector<profiler::CounterSample>& samples() const { return m_samples; }
    /// Extent of all samples; zero if there are none.
    [[nodiscard]] Extent extent() const { return m_all; }
    /// Extent of samples [from, to); must not be empty.
    [[nodiscard]] Extent extent(std::size_t from, std::size_t to) const;

private:
    void renewBlocks(std::size_t from);

    std::size_t m_parts = 0;  ///< samples added from the trace's part on disk, which come first
    std::size_t m_logged = 0; ///< samples added from its part in memory
    std::vector<profiler::CounterSample> m_samples;
    std::vector<std::vector<Extent>> m_levels; ///< extents of every 8 samples, every 64 and so on
    Extent m_all;
};

} // namespace app
