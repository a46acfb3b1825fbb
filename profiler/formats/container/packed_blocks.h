#pragma once

#include "profiler/formats/container/block_cache.h"
#include "profiler/formats/container/block_codec.h"
#include "profiler/formats/container/overview_codec.h"
#include "profiler/formats/container/section.h"
#include "profiler/model/block_ref.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace profiler::packed {

/// Reads and checks one block. Errors contain the byte offset. Thread-safe.
Result<std::shared_ptr<const TrackBlock>> readBlock(const SectionFile& file, const BlockEntry& entry,
                                                    const BlockLimits& limits);

/// Blocks of a file that are read on demand. Keeps the most recently used ones within the budget.
class PackedBlocks : public BlockSource {
public:
    PackedBlocks(std::shared_ptr<const SectionFile> file, BlockLimits limits, std::vector<BlockEntry> entries,
                 std::size_t budget);

    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;

private:
    std::shared_ptr<const SectionFile> m_file;
    BlockLimits m_limits;
    std::vector<BlockEntry> m_entries;
    BlockCache m_cache;
};

} // namespace profiler::packed
