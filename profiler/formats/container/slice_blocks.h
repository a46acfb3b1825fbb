#pragma once

#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/fields.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/track_block.h"
#include "profiler/model/track_slices.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace profiler::container {

/// The raw bytes of a Slices block.
/// @param slices  in the order of beginsBefore. Ordinals are not stored; they follow from the position in the track
Bytes encodeBlock(std::uint32_t track, std::uint32_t firstOrdinal, std::span<const RawSlice> slices);

/// The content of a Slices block.
struct DecodedBlock {
    std::uint32_t track = 0;
    std::vector<RawSlice> slices; ///< ordinals increase by one
};

/// Decodes untrusted bytes; empty if they are not a valid block.
std::optional<DecodedBlock> decodeBlock(std::span<const std::byte> raw, const BlockLimits& limits);
/// The first fields of a Slices block.
struct BlockHead {
    std::uint32_t track, firstOrdinal, count;
};
std::optional<BlockHead> headOfBlock(std::span<const std::byte> raw);

/// The position of a block, and what is known about it without reading it.
struct BlockEntry {
    std::uint32_t track = 0;
    std::uint64_t offset = 0; ///< offset of its block
    std::uint32_t count = 0;
    std::uint32_t firstOrdinal = 0;
    std::shared_ptr<const BlockSummary> summary; ///< empty if the overview is lost
};

/// The raw bytes of the Overview block: the blocks of each track in the order of their slices.
Bytes encodeOverview(std::span<const BlockEntry> entries);
/// Empty if the bytes are not an overview of this format version. The ordinals of a track's blocks are consecutive and
/// start at 0.
std::optional<std::vector<BlockEntry>> decodeOverview(std::span<const std::byte> raw, std::uint32_t tracks,
                                                      std::uint32_t strings, std::uint32_t version);

/// True if a summary from a file matches one that was computed from the block, ignoring ordinals.
bool sameBlock(const BlockSummary& a, const BlockSummary& b);

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

/// Reads and checks one block. Errors contain the byte offset. Thread-safe.
Result<std::shared_ptr<const TrackBlock>> readBlock(const BlockFile& file, const BlockEntry& entry,
                                                    const BlockLimits& limits);

/// Blocks of a file that are read on demand. Keeps the most recently used ones within the budget.
class SealedBlocks : public BlockSource {
public:
    SealedBlocks(std::shared_ptr<const BlockFile> file, BlockLimits limits, std::vector<BlockEntry> entries,
                 std::size_t budget);

    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;

private:
    std::shared_ptr<const BlockFile> m_file;
    BlockLimits m_limits;
    std::vector<BlockEntry> m_entries;
    BlockCache m_cache;
};

} // namespace profiler::container
