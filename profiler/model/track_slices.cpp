#include "profiler/model/track_slices.h"

#include <algorithm>
#include <utility>

namespace profiler {

std::optional<TrackSlices::Place> TrackSlices::find(std::uint32_t ordinal) const
{
    auto first = blocks.begin();
    if (ordered)
        first = std::lower_bound(first, blocks.end(), ordinal, [](const BlockRef& block, std::uint32_t wanted) {
            return block.summary().largestOrdinal < wanted;
        });
    for (auto block = first; block != blocks.end(); ++block) {
        if (block->summary().mayHold(ordinal)) {
            BlockPin pin = block->pin();
            if (const auto position = pin ? pin->find(ordinal) : std::nullopt)
                return Place{std::move(pin), *position};
        }
        if (ordered)
            break;
    }
    return std::nullopt;
}

void TrackSlices::push_back(BlockRef block)
{
    depthCount = std::max(depthCount, block.summary().rows.depthCount());
    blocks.push_back(std::move(block));
}

} // namespace profiler
