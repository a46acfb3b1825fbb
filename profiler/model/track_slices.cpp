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

std::span<const BlockRef> TrackSlices::around(std::int64_t from, std::int64_t to) const
{
    // A slice of length zero at the end of its block belongs to that block.
    const auto first = std::lower_bound(latestEnds.begin(), latestEnds.end(), from) - latestEnds.begin();
    const auto last =
        ordered ? std::lower_bound(begins.begin(), begins.end(), to) - begins.begin() : std::ssize(blocks);
    return first < last
               ? std::span{blocks}.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first))
               : std::span<const BlockRef>{};
}

void TrackSlices::push_back(BlockRef block)
{
    const BlockSummary& summary = block.summary();
    depthCount = std::max(depthCount, summary.rows.depthCount());
    begins.push_back(summary.firstBegin);
    latestEnds.push_back(latestEnds.empty() ? summary.lastEnd : std::max(latestEnds.back(), summary.lastEnd));
    blocks.push_back(std::move(block));
}

std::optional<std::vector<CounterSample>> BlockSource::samples(std::uint32_t) const
{
    return std::nullopt;
}

Unread BlockSource::unread() const
{
    const std::lock_guard lock{m_unreadMutex};
    Unread all;
    for (const auto& [number, missing] : m_unread) {
        all.slices += missing.slices;
        all.samples += missing.samples;
        all.why = missing.why;
    }
    return all;
}

void BlockSource::note(std::uint32_t number, std::optional<Unread> missing) const
{
    const std::lock_guard lock{m_unreadMutex};
    if (missing)
        m_unread.insert_or_assign(number, std::move(*missing));
    else
        m_unread.erase(number);
}

} // namespace profiler
