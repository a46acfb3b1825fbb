#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <vector>

namespace app {

/// The samples of a counter in order, and the extent of any stretch of them without looking at each.
class CounterSeries {
public:
    struct Extent {
        double least = 0, most = 0;
    };

    explicit CounterSeries(std::vector<profiler::CounterSample> samples);

    [[nodiscard]] const std::vector<profiler::CounterSample>& samples() const { return m_samples; }
    /// Of all samples; zero without any.
    [[nodiscard]] Extent extent() const { return m_all; }
    /// Of samples [from, to), which are not none.
    [[nodiscard]] Extent extent(std::size_t from, std::size_t to) const;

private:
    std::vector<profiler::CounterSample> m_samples;
    std::vector<Extent> m_blocks; ///< of every kBlock samples
    Extent m_all;
};

} // namespace app
