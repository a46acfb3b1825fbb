#include "app/timeline/long_gaps.h"

#include <algorithm>

namespace app {

LongGaps::LongGaps(std::span<const DeviceGaps::Gap> all) : m_all(all), m_longest(all.size() / kBlock + 1)
{
    for (std::size_t i = 0; i < all.size(); ++i)
        m_longest[i / kBlock] = std::max(m_longest[i / kBlock], all[i].range.duration());
}

} // namespace app
