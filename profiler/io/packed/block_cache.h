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

/// Blocks that were read from a file. The last used ones stay, as many as the budget holds. Any thread.
class BlockCache {
public:
    explicit BlockCache(std::size_t budget) : m_budget(budget) {} ///< bytes

    using Read = std::function<std::shared_ptr<const TrackBlock>(std::uint32_t block)>;
    /// The block of that number, by `read` if it is not here; empty where that gives nothing. That is not kept: what
    /// kept it from being read may pass.
    [[nodiscard]] std::shared_ptr<const TrackBlock> get(std::uint32_t block, const Read& read) const;

private:
    struct Kept {
        std::shared_ptr<const TrackBlock> block;
        std::list<std::uint32_t>::iterator use;
    };
    void shrink() const;

    std::size_t m_budget;
    mutable std::mutex m_mutex; ///< no file is read while it is held
    mutable std::unordered_map<std::uint32_t, Kept> m_kept;
    mutable std::list<std::uint32_t> m_uses; ///< the last used first
    mutable std::size_t m_bytes = 0;
};

} // namespace profiler::packed
