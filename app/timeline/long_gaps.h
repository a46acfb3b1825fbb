#pragma once

#include "app/document/device_gaps.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace app {

/// Finds the long gaps among very many gaps of a device without reading each: stores the longest gap of every block.
class LongGaps {
public:
    /// @param all  sorted by start; outlives this
    explicit LongGaps(std::span<const DeviceGaps::Gap> all);

    /// Calls back with the gaps in `window` (a part of all gaps) of at least this duration, sorted by start.
    template <class Visit>
    void forEach(std::span<const DeviceGaps::Gap> window, profiler::Nanoseconds atLeast, const Visit& visit) const
    {
        const auto first = static_cast<std::size_t>(window.data() - m_all.data()), end = first + window.size();
        for (std::size_t i = first; i < end;) {
            if (m_longest[i / kBlock] < atLeast) {
                i = (i / kBlock + 1) * kBlock;
                continue;
            }
            if (m_all[i].range.duration() >= atLeast)
                visit(m_all[i]);
            ++i;
        }
    }

private:
    static constexpr std::size_t kBlock = 128;
    std::span<const DeviceGaps::Gap> m_all;
    std::vector<profiler::Nanoseconds> m_longest; ///< longest of each kBlock gaps
};

} // namespace app
