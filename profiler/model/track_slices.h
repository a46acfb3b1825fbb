#pragma once

#include "profiler/model/block_ref.h"
#include "profiler/model/pools.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler {

/// Slices of one track as one snapshot sees them.
struct TrackSlices {
    std::vector<BlockRef> blocks;
    bool ordered = false; ///< starts and ordinals increase from block to block
    std::size_t count = 0;
    int depthCount = 0;
    std::vector<SampleRef> spilledSamples; ///< sorted by time; they precede `samples`
    CounterLog::View samples;
    std::vector<std::int64_t> begins;     ///< start of each block's first slice
    std::vector<std::int64_t> latestEnds; ///< latest end of all slices up to and including each block

    struct Place {
        BlockPin block;
        std::uint32_t position;
    };
    /// Place of the slice with an ordinal. O(log n) in an ordered track.
    [[nodiscard]] std::optional<Place> find(std::uint32_t ordinal) const;
    /// All blocks that may overlap [from, to); may include others. O(log n) in an ordered track.
    [[nodiscard]] std::span<const BlockRef> around(std::int64_t from, std::int64_t to) const;
    /// Adds a block and updates the other members.
    void push_back(BlockRef block);
};

} // namespace profiler
