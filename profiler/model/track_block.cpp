#include "profiler/model/track_block.h"

#include "profiler/model/trace.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace profiler {
namespace {

template <class T>
std::size_t heldBytes(const std::vector<T>& values)
{
    return values.capacity() * sizeof(T);
}

SliceColumns columnsOf(std::span<const RawSlice> slices)
{
    SliceColumns columns;
    const auto column = [&](auto& values, auto member) {
        values.reserve(slices.size());
        for (const RawSlice& slice : slices)
            values.push_back(slice.*member);
    };
    column(columns.begin, &RawSlice::begin);
    column(columns.duration, &RawSlice::duration);
    column(columns.link, &RawSlice::link);
    column(columns.name, &RawSlice::name);
    column(columns.args, &RawSlice::args);
    column(columns.ordinal, &RawSlice::ordinal);
    column(columns.kind, &RawSlice::kind);
    column(columns.depth, &RawSlice::depth);
    column(columns.flags, &RawSlice::flags);
    if (std::any_of(slices.begin(), slices.end(), [](const RawSlice& slice) { return slice.external != 0; }))
        column(columns.external, &RawSlice::external);
    if (std::any_of(slices.begin(), slices.end(), [](const RawSlice& slice) { return slice.source() != 0; })) {
        column(columns.sourceLow, &RawSlice::sourceLow);
        column(columns.sourceHigh, &RawSlice::sourceHigh);
    }
    return columns;
}

} // namespace

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

std::shared_ptr<const TrackBlock> TrackBlock::make(std::span<const RawSlice> sorted)
{
    assert(!sorted.empty() && std::is_sorted(sorted.begin(), sorted.end(), beginsBefore));
    return std::make_shared<const TrackBlock>(columnsOf(sorted));
}

TrackBlock::TrackBlock(SliceColumns made) : columns(std::move(made)), rows(columns), firstBegin(columns.begin.front())
{
    lastEnd = columns.end(0);
    for (std::uint32_t i = 0; i < size(); ++i) {
        lastEnd = std::max(lastEnd, columns.end(i));
        kinds |= 1U << static_cast<int>(columns.kind[i]);
        inferred |= (columns.flags[i] & RawSlice::kInferredDepth) != 0;
    }
    indexOrdinals();
    indexLinks();
}

void TrackBlock::indexOrdinals()
{
    const auto& ordinal = columns.ordinal;
    if (std::is_sorted(ordinal.begin(), ordinal.end())) {
        m_smallestOrdinal = ordinal.front();
        m_largestOrdinal = ordinal.back();
        return;
    }
    m_byOrdinal.resize(size());
    for (std::uint32_t i = 0; i < size(); ++i)
        m_byOrdinal[i] = i;
    std::sort(m_byOrdinal.begin(), m_byOrdinal.end(),
              [&](std::uint32_t a, std::uint32_t b) { return ordinal[a] < ordinal[b]; });
    m_smallestOrdinal = ordinal[m_byOrdinal.front()];
    m_largestOrdinal = ordinal[m_byOrdinal.back()];
}

void TrackBlock::indexLinks()
{
    std::array<std::vector<std::uint32_t>, kLinkRoles> found;
    for (std::uint32_t i = 0; i < size(); ++i) {
        if (const auto role = linkRole(at(i)))
            found[static_cast<std::size_t>(*role)].push_back(i);
    }
    const auto& link = columns.link;
    for (std::size_t role = 0; role < found.size(); ++role) {
        if (found[role].empty())
            continue;
        std::stable_sort(found[role].begin(), found[role].end(),
                         [&](std::uint32_t a, std::uint32_t b) { return link[a] < link[b]; });
        LinkIndex& index = m_links[role];
        index.positions = found[role]; // a copy holds no more than it needs
        index.smallest = link[index.positions.front()];
        index.largest = link[index.positions.back()];
    }
}

RawSlice TrackBlock::at(std::uint32_t position) const
{
    RawSlice slice;
    slice.begin = columns.begin[position];
    slice.duration = columns.duration[position];
    slice.link = columns.link[position];
    slice.name = columns.name[position];
    slice.args = columns.args[position];
    slice.ordinal = columns.ordinal[position];
    slice.kind = columns.kind[position];
    slice.depth = columns.depth[position];
    slice.flags = columns.flags[position];
    if (!columns.external.empty())
        slice.external = columns.external[position];
    if (!columns.sourceLow.empty()) {
        slice.sourceLow = columns.sourceLow[position];
        slice.sourceHigh = columns.sourceHigh[position];
    }
    return slice;
}

std::optional<std::uint32_t> TrackBlock::find(std::uint32_t ordinal) const
{
    if (ordinal < m_smallestOrdinal || ordinal > m_largestOrdinal)
        return std::nullopt;
    const auto positionAt = [&](std::uint32_t rank) { return m_byOrdinal.empty() ? rank : m_byOrdinal[rank]; };
    std::uint32_t low = 0;
    std::uint32_t high = size();
    if (m_largestOrdinal - m_smallestOrdinal == size() - 1)
        low = ordinal - m_smallestOrdinal; // no gaps
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (columns.ordinal[positionAt(middle)] < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == size() || columns.ordinal[positionAt(low)] != ordinal)
        return std::nullopt;
    return positionAt(low);
}

std::span<const std::uint32_t> TrackBlock::linked(LinkRole role, std::int64_t link) const
{
    const LinkIndex& index = m_links[static_cast<std::size_t>(role)];
    if (link < index.smallest || link > index.largest)
        return {};
    const auto& positions = index.positions;
    const auto first = std::lower_bound(positions.begin(), positions.end(), link,
                                        [&](std::uint32_t p, std::int64_t wanted) { return columns.link[p] < wanted; });
    const auto last = std::upper_bound(first, positions.end(), link,
                                       [&](std::int64_t wanted, std::uint32_t p) { return wanted < columns.link[p]; });
    return {first, last};
}

std::vector<std::uint32_t> TrackBlock::straddling(std::int64_t time) const
{
    std::vector<std::uint32_t> found;
    for (const Row& row : rows.rows()) {
        const std::uint32_t next = rows.firstFrom(columns, row, time);
        if (next > 0 && columns.end(rows.position(row, next - 1)) > time)
            found.push_back(rows.position(row, next - 1));
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::size_t TrackBlock::bytes() const
{
    std::size_t bytes = sizeof(TrackBlock) + rows.bytes() + heldBytes(m_byOrdinal);
    bytes += heldBytes(columns.begin) + heldBytes(columns.duration) + heldBytes(columns.link);
    bytes += heldBytes(columns.name) + heldBytes(columns.args) + heldBytes(columns.ordinal);
    bytes += heldBytes(columns.external) + heldBytes(columns.sourceLow) + heldBytes(columns.sourceHigh);
    bytes += heldBytes(columns.kind) + heldBytes(columns.depth) + heldBytes(columns.flags);
    for (const LinkIndex& index : m_links)
        bytes += heldBytes(index.positions);
    return bytes;
}

} // namespace profiler
