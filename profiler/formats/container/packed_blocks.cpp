#include "profiler/formats/container/packed_blocks.h"

#include <fmt/core.h>
#include <utility>

namespace profiler::packed {

Result<std::shared_ptr<const TrackBlock>> readBlock(const SectionFile& file, const BlockEntry& entry,
                                                    const BlockLimits& limits)
{
    const auto place = [&] { return fmt::format("{}, byte {}", file.path().string(), entry.offset); };
    const auto raw = file.read(entry.offset, SectionType::Block);
    if (!raw)
        return tl::unexpected(raw.error());
    auto decoded = decodeBlock(*raw, limits);
    if (!decoded || decoded->track != entry.track || decoded->slices.size() != entry.count)
        return fail<"trace.bad_block", "a block of slices contains invalid values">(Error::Code::Malformed, place());
    for (std::uint32_t i = 0; i < decoded->slices.size(); ++i)
        decoded->slices[i].ordinal = entry.firstOrdinal + i;
    auto block = TrackBlock::make(decoded->slices);
    // Queries use the rows of the overview, so the block must match them.
    if (entry.summary && !sameBlock(*entry.summary, block->summary))
        return fail<"trace.other_block", "a block of slices does not match the overview of the file">(
            Error::Code::Malformed, place());
    return block;
}

PackedBlocks::PackedBlocks(std::shared_ptr<const SectionFile> file, BlockLimits limits, std::vector<BlockEntry> entries,
                           std::size_t budget)
    : m_file(std::move(file)), m_limits(limits), m_entries(std::move(entries)), m_cache(budget)
{
}

std::shared_ptr<const TrackBlock> PackedBlocks::load(std::uint32_t block) const
{
    return m_cache.get(block, [this](std::uint32_t number) {
        const BlockEntry& entry = m_entries.at(number);
        auto made = readBlock(*m_file, entry, m_limits);
        note(number, made ? std::nullopt : std::optional(Unread{entry.count, 0, made.error().message()}));
        return made.value_or(nullptr);
    });
}

} // namespace profiler::packed
