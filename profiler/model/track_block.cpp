#include "profiler/model/track_block.h"

#include "profiler/model/radix_sort.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <cassert>

namespace profiler {

std::shared_ptr<const TrackBlock> TrackBlock::make(std::span<const RawSlice> sorted)
{
    return std::make_shared<const TrackBlock>(sorted);
}

TrackBlock::TrackBlock(std::span<const RawSlice> sorted) : columns(sorted), rows(sorted, summary.rows), links(sorted)
{
    assert(std::is_sorted(sorted.begin(), sorted.end(), beginsBefore));
    summarize(sorted);
    indexOrdinals(sorted);
}

void TrackBlock::summarize(std::span<const RawSlice> sorted)
{
    summary.count = size();
    summary.firstBegin = sorted.front().begin;
    summary.lastEnd = sorted.front().end();
    summary.links = links.ranges();
    for (const RawSlice& slice : sorted) {
        summary.lastEnd = std::max(summary.lastEnd, slice.end());
        summary.kinds |= 1U << static_cast<int>(slice.kind);
        summary.inferred |= slice.inferred();
    }
}

void TrackBlock::indexOrdinals(std::span<const RawSlice> sorted)
{
    std::vector<SortKey> keys;
    keys.reserve(sorted.size());
    bool agree = true;
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
        agree = agree && (i == 0 || sorted[i - 1].ordinal < sorted[i].ordinal);
        keys.push_back({sorted[i].ordinal, i});
    }
    if (!agree)
        radixSort(keys);
    summary.smallestOrdinal = static_cast<std::uint32_t>(keys.front().key);
    summary.largestOrdinal = static_cast<std::uint32_t>(keys.back().key);
    if (agree)
        return;
    m_byOrdinal.reserve(keys.size());
    for (const SortKey& key : keys)
        m_byOrdinal.push_back(static_cast<std::uint16_t>(key.place));
}

std::optional<std::uint32_t> TrackBlock::find(std::uint32_t ordinal) const
{
    if (!summary.mayHold(ordinal))
        return std::nullopt;
    const auto positionAt = [&](std::uint32_t rank) -> std::uint32_t {
        return m_byOrdinal.empty() ? rank : m_byOrdinal[rank];
    };
    std::uint32_t low = 0;
    std::uint32_t high = size();
    if (summary.largestOrdinal - summary.smallestOrdinal == size() - 1)
        low = ordinal - summary.smallestOrdinal; // no gaps
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (columns.ordinal(positionAt(middle)) < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == size() || columns.ordinal(positionAt(low)) != ordinal)
        return std::nullopt;
    return positionAt(low);
}

std::vector<std::uint32_t> TrackBlock::straddling(std::int64_t time) const
{
    std::vector<std::uint32_t> found;
    for (const Row& row : summary.rows.rows()) {
        if (row.begin >= time || row.end <= time)
            continue;
        const RowEntries entries = rows.entries(columns, row);
        const std::uint32_t next = entries.firstFrom(time, row.count / 2);
        if (next > 0 && entries.end(next - 1) > time)
            found.push_back(rows.position(row, next - 1));
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::size_t TrackBlock::bytes() const
{
    return sizeof(TrackBlock) - sizeof(BlockSummary) + summary.bytes() + columns.bytes() + rows.bytes() +
           links.bytes() + m_byOrdinal.capacity() * sizeof(std::uint16_t);
}

std::optional<LinkRole> linkRole(const RawSlice& slice)
{
    if (slice.kind == ActivityKind::CpuOp) {
        if (slice.link < 0)
            return std::nullopt;
        return (slice.flags & slice_flag::kBackward) != 0 ? LinkRole::BackwardOp : LinkRole::ForwardOp;
    }
    if (slice.link == 0)
        return std::nullopt;
    if (isDeviceWork(slice.kind))
        return LinkRole::LaunchedWork;
    if (slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver)
        return LinkRole::LaunchCall;
    return std::nullopt;
}

LinkIndex::LinkIndex(std::span<const RawSlice> slices)
{
    std::array<std::vector<SortKey>, kLinkRoles> found;
    for (std::uint32_t i = 0; i < slices.size(); ++i) {
        if (const auto role = linkRole(slices[i]))
            found[static_cast<std::size_t>(*role)].push_back({slices[i].link, i});
    }
    for (std::size_t role = 0; role < found.size(); ++role) {
        auto& keys = found[role];
        if (keys.empty())
            continue;
        radixSort(keys);
        m_ranges[role] = {keys.front().key, keys.back().key};
        m_positions[role].reserve(keys.size());
        for (const SortKey& key : keys)
            m_positions[role].push_back(static_cast<std::uint16_t>(key.place));
    }
}

std::span<const std::uint16_t> LinkIndex::find(const SliceColumns& columns, LinkRole role, std::int64_t link) const
{
    if (!m_ranges[static_cast<std::size_t>(role)].contains(link))
        return {};
    const auto& positions = m_positions[static_cast<std::size_t>(role)];
    const auto first = std::lower_bound(positions.begin(), positions.end(), link,
                                        [&](std::uint16_t p, std::int64_t wanted) { return columns.link(p) < wanted; });
    const auto last = std::upper_bound(first, positions.end(), link,
                                       [&](std::int64_t wanted, std::uint16_t p) { return wanted < columns.link(p); });
    return {first, last};
}

std::size_t LinkIndex::bytes() const
{
    std::size_t bytes = 0;
    for (const auto& positions : m_positions)
        bytes += positions.capacity() * sizeof(std::uint16_t);
    return bytes;
}

} // namespace profiler
