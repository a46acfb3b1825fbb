#pragma once

#include "profiler/io/packed/block_codec.h"
#include "profiler/io/packed/overview_codec.h"
#include "profiler/io/packed/section.h"
#include "profiler/model/block_ref.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace profiler::packed {

/// Reads and checks one block. Errors name the byte offset. Any thread.
Result<std::shared_ptr<const TrackBlock>> readBlock(const SectionFile& file, const BlockEntry& entry,
                                                    const BlockLimits& limits);

/// Blocks of a file that are read when they are asked for. The last used ones stay, as many as the budget holds.
class PackedBlocks : public BlockSource {
public:
    PackedBlocks(std::shared_ptr<const SectionFile> file, BlockLimits limits, std::vector<BlockEntry> entries,
                 std::size_t budget);

    [[nodiscard]] std::shared_ptr<const TrackBlock> load(std::uint32_t block) const override;

private:
    struct Kept {
        std::shared_ptr<const TrackBlock> block; ///< empty: it cannot be read
        std::list<std::uint32_t>::iterator use;
    };
    void shrink() const;

    std::shared_ptr<const SectionFile> m_file;
    BlockLimits m_limits;
    std::vector<BlockEntry> m_entries;
    std::size_t m_budget;
    mutable std::mutex m_mutex; ///< no file is read while it is held
    mutable std::unordered_map<std::uint32_t, Kept> m_kept;
    mutable std::list<std::uint32_t> m_uses; ///< the last used first
    mutable std::size_t m_bytes = 0;
};

} // namespace profiler::packed
