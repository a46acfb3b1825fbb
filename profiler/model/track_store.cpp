#include "profiler/model/track_store.h"

#include "profiler/model/nesting.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace profiler {
namespace {

void appendBlock(std::vector<RawSlice>& slices, const TrackBlock& block)
{
    slices.reserve(slices.size() + block.size());
    for (std::uint32_t i = 0; i < block.size(); ++i)
        slices.push_back(block.at(i));
}

} // namespace

void TrackStore::add(RawSlice slice, bool inferDepth)
{
    const auto [first, last] = m_open.equal_range({slice.begin, slice.name});
    const bool announced = first != last;
    if (announced) {
        const auto innermost = std::prev(last);
        slice.ordinal = innermost->second.ordinal;
        m_open.erase(innermost);
    } else {
        slice.ordinal = m_nextOrdinal++;
    }
    if (!announced || inferDepth) {
        const bool none = m_newEnd < m_newBegin;
        m_newBegin = none ? slice.begin : std::min(m_newBegin, slice.begin);
        m_newEnd = none ? slice.end() : std::max(m_newEnd, slice.end());
    }
    if (inferDepth) {
        slice.flags |= RawSlice::kInferredDepth;
        m_anyInferred = true;
    }
    m_pending.push_back(slice);
    // Inference needs the whole track at once, because it looks at the slices around each slice.
    if (m_pending.size() >= kMergedSlices && !m_anyInferred)
        seal();
}

void TrackStore::open(RawSlice slice, bool inferDepth)
{
    slice.ordinal = m_nextOrdinal++;
    slice.flags |= slice_flag::kOpen;
    if (inferDepth) {
        slice.flags |= RawSlice::kInferredDepth;
        m_anyInferred = true;
    }
    m_open.emplace(std::pair{slice.begin, slice.name}, slice);
}

std::vector<RawSlice> TrackStore::openSlices(std::int64_t now) const
{
    std::vector<RawSlice> slices;
    slices.reserve(m_open.size());
    for (const auto& [key, slice] : m_open) {
        slices.push_back(slice);
        slices.back().duration = std::max<std::int64_t>(now - slice.begin, 0);
    }
    std::sort(slices.begin(), slices.end(), beginsBefore);
    return slices;
}

std::vector<RawSlice> TrackStore::sealedOverlapping(std::int64_t from, std::int64_t to) const
{
    std::vector<RawSlice> found;
    for (const auto& block : m_blocks) {
        block->forEach(from, to, [&](std::uint32_t position) {
            found.push_back(block->at(position));
            return true;
        });
    }
    return found;
}

void TrackStore::pullInferred(std::int64_t from, std::int64_t to)
{
    const auto touched = [&](const auto& block) {
        return block->summary.inferred && block->summary.firstBegin <= to && block->summary.lastEnd >= from;
    };
    for (const auto& block : m_blocks) {
        if (touched(block))
            appendBlock(m_pending, *block);
    }
    std::erase_if(m_blocks, touched);
}

void TrackStore::inferPending()
{
    if (m_newEnd >= m_newBegin)
        pullInferred(m_newBegin, m_newEnd);
    // Open slices contain others too. Those whose own depth must be inferred take part temporarily.
    std::vector<RawSlice> context;
    std::vector<RawSlice> slices = std::move(m_pending);
    const std::size_t pending = slices.size();
    for (const RawSlice& slice : openSlices(RawSlice::kTimeLimit))
        (slice.inferred() ? slices : context).push_back(slice);
    std::unordered_set<std::uint32_t> guests;
    for (std::size_t i = pending; i < slices.size(); ++i)
        guests.insert(slices[i].ordinal);
    std::sort(slices.begin(), slices.end(), beginsBefore);
    std::int64_t end = slices.front().end();
    for (const RawSlice& slice : slices)
        end = std::max(end, slice.end());
    const auto sealed = sealedOverlapping(slices.front().begin, end);
    context.insert(context.end(), sealed.begin(), sealed.end());
    std::sort(context.begin(), context.end(), beginsBefore);
    inferDepths(slices, context);
    if (!guests.empty())
        std::erase_if(slices, [&](const RawSlice& slice) { return guests.contains(slice.ordinal); });
    m_pending = std::move(slices);
}

void TrackStore::seal()
{
    if (m_pending.empty())
        return;
    if (m_anyInferred)
        inferPending();
    else if (!std::is_sorted(m_pending.begin(), m_pending.end(), beginsBefore))
        std::sort(m_pending.begin(), m_pending.end(), beginsBefore);
    append(m_pending);
    m_pending.clear();
    m_newBegin = 0;
    m_newEnd = -1;
}

void TrackStore::append(std::span<const RawSlice> sorted)
{
    while (sorted.size() > kMergedSlices) {
        m_blocks.push_back(TrackBlock::make(sorted.first(kMergedSlices)));
        sorted = sorted.subspan(kMergedSlices);
    }
    std::vector<RawSlice> merged{sorted.begin(), sorted.end()};
    // A block is not merged if it is more than twice as large as what follows it, so each slice is copied O(log n)
    // times.
    while (!m_blocks.empty() && m_blocks.back()->size() <= 2 * merged.size() &&
           m_blocks.back()->size() + merged.size() <= kMergedSlices) {
        const auto middle = static_cast<std::ptrdiff_t>(merged.size());
        appendBlock(merged, *m_blocks.back());
        std::inplace_merge(merged.begin(), merged.begin() + middle, merged.end(), beginsBefore);
        m_blocks.pop_back();
    }
    m_blocks.push_back(TrackBlock::make(merged));
}

void TrackStore::compact()
{
    seal();
    BlockList blocks;
    std::vector<RawSlice> merged;
    const auto close = [&] {
        std::sort(merged.begin(), merged.end(), beginsBefore);
        if (!merged.empty())
            blocks.push_back(TrackBlock::make(merged));
        merged.clear();
    };
    for (auto& block : m_blocks) {
        if (merged.size() + block->size() > kMergedSlices)
            close();
        if (block->size() == kMergedSlices)
            blocks.push_back(std::move(block));
        else
            appendBlock(merged, *block);
    }
    close();
    m_blocks = std::move(blocks);
}

void TrackStore::closeOpen(std::int64_t now)
{
    for (const RawSlice& slice : openSlices(now))
        m_pending.push_back(slice);
    m_open.clear();
}

BlockList TrackStore::blocks(std::int64_t now) const
{
    BlockList blocks = m_blocks;
    if (m_open.empty())
        return blocks;
    auto open = openSlices(now);
    if (m_anyInferred) {
        auto context = sealedOverlapping(open.front().begin, now);
        std::sort(context.begin(), context.end(), beginsBefore);
        inferDepths(open, context);
    }
    blocks.push_back(TrackBlock::make(open));
    return blocks;
}

} // namespace profiler
