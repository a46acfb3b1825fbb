#pragma once

#include "profiler/model/track_block.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace profiler::packed {

/// A cache of blocks that were read from a file. Keeps the most recently used ones within the budget. Thread-safe.
class BlockCache {
public:
    explicit BlockCache(std::size_t budget) : m_budget(budget) {} ///< bytes

    using Read = std::function<std::shared_ptr<const TrackBlock>(std::uint32_t block)>;
    /// Returns the block with that number and calls `read` if it is not cached. Empty if `read` fails; failures are not
    /// cached, because they may be temporary.
    [[nodiscard]] std::shared_ptr<const TrackBlock> get(std::uint32_t block, const Read& read) const;

private:
    struct Kept {
        std::shared_ptr<const TrackBlock> block;
        std::list<std::uint32_t>::iterator use;
    };
    void shrink() const;

    std::size_t m_budget;
    mutable std::mutex m_mutex; ///< not held while a file is read
    mutable std::unordered_map<std::uint32_t, Kept> m_kept;
    mutable std::list<std::uint32_t> m_uses; ///< most recently used first
    mutable std::size_t m_bytes = 0;
};

} // namespace profiler::packed
