#include "profiler/capture/allocation_ledger.h"

#include <algorithm>
#include <tuple>

namespace profiler::capture {

namespace {
constexpr std::int64_t kFiner = 100; // an increase of the peak by less than 1/100 is not stored again
}

std::size_t AllocationLedger::Hash::operator()(const AllocationOrigin& by) const noexcept
{
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15; // 2⁶⁴ over the golden ratio
    const std::uint64_t names = std::uint64_t{by.op} << 32 | by.phase;
    return static_cast<std::size_t>((names * kSpread ^ static_cast<std::uint64_t>(by.step)) * kSpread >> 16);
}

void AllocationLedger::release(const Block& block)
{
    const auto sum = m_alive.find(block.by);
    sum->second.bytes -= block.bytes;
    if (--sum->second.blocks == 0)
        m_alive.erase(sum); // otherwise each step of a long run would leave entries behind
    m_bytes -= block.bytes;
}

void AllocationLedger::allocated(const void* at, std::int64_t bytes, const AllocationOrigin& by)
{
    const std::lock_guard lock(m_mutex);
    const auto [block, isNew] = m_blocks.try_emplace(at, Block{bytes, by});
    if (!isNew) { // the free was not seen, and the address was allocated again
        release(block->second);
        block->second = {bytes, by};
    }
    Sum& sum = m_alive[by];
    sum.bytes += bytes;
    ++sum.blocks;
    m_bytes += bytes;
    m_peakBytes = std::max(m_peakBytes, m_bytes);
    if (m_bytes > m_noted + m_noted / kFiner || (m_bytes >= m_noted && by.step != m_notedStep)) {
        m_noted = m_bytes;
        m_notedStep = by.step;
        m_atPeak = m_alive;
    }
}

void AllocationLedger::freed(const void* at)
{
    const std::lock_guard lock(m_mutex);
    const auto block = m_blocks.find(at);
    if (block == m_blocks.end())
        return;
    release(block->second);
    m_blocks.erase(block);
}

AllocationLedger::Peak AllocationLedger::sorted(std::int64_t bytes, const Sums& sums)
{
    Peak peak{bytes, {}};
    peak.alive.reserve(sums.size());
    for (const auto& [by, sum] : sums)
        peak.alive.push_back({by, sum.bytes, sum.blocks});
    const auto order = [](const Alive& alive) {
        return std::tuple(-alive.bytes, alive.by.step, alive.by.phase, alive.by.op);
    };
    std::sort(peak.alive.begin(), peak.alive.end(),
              [&](const Alive& a, const Alive& b) { return order(a) < order(b); });
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
