#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/pools.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace profiler {

/// Slices of one track as one snapshot sees them.
struct TrackSlices {
    std::vector<BlockRef> blocks;
    bool ordered = false; ///< begins and ordinals rise from block to block
    std::size_t count = 0;
    int depthCount = 0;
    CounterLog::View samples;

    struct Place {
        BlockPin block;
        std::uint32_t position;
    };
    /// Where the slice of an ordinal lies. O(log n) in an ordered track.
    [[nodiscard]] std::optional<Place> find(std::uint32_t ordinal) const;
    /// Adds a block, and what it means for depthCount.
    void push_back(BlockRef block);
};

} // namespace profiler
