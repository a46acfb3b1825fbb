#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <vector>

namespace app {

/// What there is to show of a trace: its slices; where none of them lasts, its instants and counters, a microsecond at
/// least. Empty where there is nothing.
profiler::TimeRange shownRange(const profiler::Trace& trace);

/// The samples of a counter by time, and the extent of any stretch of them without looking at each. Grows with its
/// trace.
class CounterSeries {
public:
    struct Extent {
        double least = 0, most = 0;
    };

    /// Takes over what `counter` of a trace has more than at the last call; that was of this trace or of an earlier
    /// snapshot of it. A sample that came late goes to where its time puts it, behind others of that time.
    void read(const profiler::Trace& trace, profiler::TrackId counter);

    [[nodiscard]] const std::vector<profiler::CounterSample>& samples() const { return m_samples; }
    /// Of all samples; zero without any.
    [[nodiscard]] Extent extent() const { return m_all; }
    /// Of samples [from, to), which are not none.
    [[nodiscard]] Extent extent(std::size_t from, std::size_t to) const;

private:
    void renewBlocks(std::size_t from);

    std::size_t m_parts = 0;  ///< taken of what the trace has on disk: they come first
    std::size_t m_logged = 0; ///< taken of what it has in memory
    std::vector<profiler::CounterSample> m_samples;
    std::vector<std::vector<Extent>> m_levels; ///< of every 8 samples, of every 64 and so on
    Extent m_all;
};

} // namespace app
