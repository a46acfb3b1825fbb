#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/model/track_block.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// Where a block lies, and what is known of it without reading it.
struct BlockEntry {
    std::uint32_t track = 0;
    std::uint64_t offset = 0; ///< of its section
    std::uint32_t count = 0;
    std::uint32_t firstOrdinal = 0;
    std::shared_ptr<const BlockSummary> summary; ///< empty when the overview is lost
};

/// The raw bytes of the Overview section: the blocks of each track in the order of their slices.
Bytes encodeOverview(std::span<const BlockEntry> entries);
/// Empty where the bytes are no overview of that version of the format. Ordinals of a track's blocks follow each other
/// from 0, as the blocks do.
std::optional<std::vector<BlockEntry>> decodeOverview(std::span<const std::byte> raw, std::uint32_t tracks,
                                                      std::uint32_t strings, std::uint32_t version);

/// Whether two summaries are of the same slices, whatever their ordinals: one that a file gives, and one made of the
/// block.
bool sameBlock(const BlockSummary& a, const BlockSummary& b);

} // namespace profiler::packed
