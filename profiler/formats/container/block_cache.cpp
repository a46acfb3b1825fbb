#include "profiler/formats/container/block_cache.h"

namespace profiler::packed {

std::shared_ptr<const TrackBlock> BlockCache::get(std::uint32_t block, const Read& read) const
{
    {
        const std::lock_guard lock{m_mutex};
        if (const auto kept = m_kept.find(block); kept != m_kept.end()) {
            m_uses.splice(m_uses.begin(), m_uses, kept->second.use);
            return kept->second.block;
        }
    }
    // Two threads may read the same block at the same time; both results are valid.
    auto made = read(block);
    if (!made) // the failure may be temporary: the next caller tries again
        return made;
    const std::lock_guard lock{m_mutex};
    const auto [kept, isNew] = m_kept.try_emplace(block);
    if (isNew) {
        m_uses.push_front(block);
        kept->second = {made, m_uses.begin()};
        m_bytes += made->bytes();
        shrink();
    }
    return made;
}

void BlockCache::shrink() const
{
    while (m_bytes > m_budget && m_uses.size() > 1) {
        const auto oldest = m_kept.find(m_uses.back());
        m_bytes -= oldest->second.block->bytes();
        m_kept.erase(oldest);
        m_uses.pop_back();
    }
}

} // namespace profiler::packed
