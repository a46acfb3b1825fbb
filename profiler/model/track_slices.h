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
    bool ordered = false; ///< begins and ordinals rise from block to block
    std::size_t count = 0;
    int depthCount = 0;
    std::vector<SampleRef> spilledSamples; ///< by time; they come before `samples`
    CounterLog::View samples;
    std::vector<std::int64_t> begins;     ///< of each block's first slice
    std::vector<std::int64_t> latestEnds; ///< of all slices up to each block's last

    struct Place {
        BlockPin block;
        std::uint32_t position;
    };
    /// Where the slice of an ordinal lies. O(log n) in an ordered track.
    [[nodiscard]] std::optional<Place> find(std::uint32_t ordinal) const;
    /// The blocks that may overlap [from, to), and perhaps others. O(log n) in an ordered track.
    [[nodiscard]] std::span<const BlockRef> around(std::int64_t from, std::int64_t to) const;
    /// Adds a block, and what it means for the other members.
    void push_back(BlockRef block);
};

} // namespace profiler
