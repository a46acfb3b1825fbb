#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/model/track_block.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// The position of a block, and what is known about it without reading it.
struct BlockEntry {
    std::uint32_t track = 0;
    std::uint64_t offset = 0; ///< offset of its section
    std::uint32_t count = 0;
    std::uint32_t firstOrdinal = 0;
    std::shared_ptr<const BlockSummary> summary; ///< empty if the overview is lost
};

/// The raw bytes of the Overview section: the blocks of each track in the order of their slices.
Bytes encodeOverview(std::span<const BlockEntry> entries);
/// Empty if the bytes are not an overview of this format version. The ordinals of a track's blocks are consecutive and
/// start at 0.
std::optional<std::vector<BlockEntry>> decodeOverview(std::span<const std::byte> raw, std::uint32_t tracks,
                                                      std::uint32_t strings, std::uint32_t version);

/// True if a summary from a file matches one that was computed from the block, ignoring ordinals.
bool sameBlock(const BlockSummary& a, const BlockSummary& b);

} // namespace profiler::packed
