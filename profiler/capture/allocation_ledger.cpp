#include "profiler/capture/allocation_ledger.h"

#include <algorithm>

namespace profiler::capture {

namespace {
constexpr std::int64_t kFiner = 100; // parts of the peak that are not written down anew
}

void AllocationLedger::taken(const void* at, std::int64_t bytes, std::uint32_t by)
{
    const std::lock_guard lock(m_mutex);
    const auto [block, isNew] = m_blocks.try_emplace(at, Block{bytes, by});
    if (!isNew) { // given back unseen, and taken again
        m_alive[block->second.by] -= block->second.bytes;
        m_bytes -= block->second.bytes;
        block->second = {bytes, by};
    }
    m_alive[by] += bytes;
    m_bytes += bytes;
    m_peakBytes = std::max(m_peakBytes, m_bytes);
    if (m_bytes > m_noted + m_noted / kFiner) {
        m_noted = m_bytes;
        m_atPeak = m_alive;
    }
}

void AllocationLedger::given(const void* at)
{
    const std::lock_guard lock(m_mutex);
    const auto block = m_blocks.find(at);
    if (block == m_blocks.end())
        return;
    m_alive[block->second.by] -= block->second.bytes;
    m_bytes -= block->second.bytes;
    m_blocks.erase(block);
}

AllocationLedger::Peak AllocationLedger::sorted(std::int64_t bytes,
                                                const std::unordered_map<std::uint32_t, std::int64_t>& by) const
{
    Peak peak{bytes, {}};
    for (const auto& entry : by)
        if (entry.second > 0)
            peak.alive.emplace_back(entry);
    std::sort(peak.alive.begin(), peak.alive.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return peak;
}

AllocationLedger::Peak AllocationLedger::peak() const
{
    const std::lock_guard lock(m_mutex);
    return sorted(m_peakBytes, m_atPeak);
}

AllocationLedger::Peak AllocationLedger::now() const
{
    const std::lock_guard lock(m_mutex);
    return sorted(m_bytes, m_alive);
}

std::int64_t AllocationLedger::bytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_bytes;
}

} // namespace profiler::capture
