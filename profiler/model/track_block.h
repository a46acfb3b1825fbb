#pragma once

#include "profiler/model/row_index.h"
#include "profiler/model/slice_columns.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// Blocks of slices: the columns of some slices of a track, with their indexes.
namespace profiler {

/// What the link of a slice connects, and which end of the arrow the slice is.
enum class LinkRole : std::uint8_t { LaunchCall, LaunchedWork, ForwardOp, BackwardOp };
inline constexpr int kLinkRoles = 4;
/// Empty for a slice that can have no arrow.
std::optional<LinkRole> linkRole(const RawSlice& slice);

/// Links of one role in a block; empty if largest < smallest.
struct LinkRange {
    std::int64_t smallest = 0, largest = -1;
    [[nodiscard]] bool contains(std::int64_t link) const { return smallest <= link && link <= largest; }
};
using LinkRanges = std::array<LinkRange, kLinkRoles>;

/// Finds the slices of a block by their links. Takes two bytes for each slice with a link.
class LinkIndex {
public:
    explicit LinkIndex(std::span<const RawSlice> slices);

    /// Positions with that link and role, in any order.
    [[nodiscard]] std::span<const std::uint16_t> find(const SliceColumns& columns, LinkRole role,
                                                      std::int64_t link) const;
    [[nodiscard]] const LinkRanges& ranges() const { return m_ranges; }
    [[nodiscard]] std::size_t bytes() const;

private:
    std::array<std::vector<std::uint16_t>, kLinkRoles> m_positions; ///< by role, sorted by link
    LinkRanges m_ranges;
};

/// The part of a block that is always in memory: enough to tell whether a query needs the block, and to draw it zoomed
/// out.
struct BlockSummary {
    std::uint32_t count = 0;
    std::int64_t firstBegin = 0, lastEnd = 0;
    std::uint32_t smallestOrdinal = 0, largestOrdinal = 0;
    std::uint32_t kinds = 0; ///< one bit per ActivityKind
    bool inferred = false;   ///< some depths were inferred from the intervals
    LinkRanges links;
    RowSummary rows;

    [[nodiscard]] bool holds(ActivityKind kind) const { return (kinds >> static_cast<int>(kind) & 1) != 0; }
    [[nodiscard]] bool overlaps(std::int64_t from, std::int64_t to) const { return firstBegin < to && lastEnd >= from; }
    [[nodiscard]] bool mayHold(std::uint32_t ordinal) const
    {
        return smallestOrdinal <= ordinal && ordinal <= largestOrdinal;
    }
    [[nodiscard]] bool mayLink(LinkRole role, std::int64_t link) const
    {
        return links[static_cast<std::size_t>(role)].contains(link);
    }
    [[nodiscard]] std::size_t bytes() const { return sizeof(BlockSummary) + rows.bytes(); }
};

/// Sealed columns of one track. Immutable and shared by snapshots; 20 to 45 bytes per slice. SliceIds keep their
/// arrival ordinals although a block is sorted by start: a column stores each slice's ordinal, and a permutation finds
/// the slice for an ordinal.
struct TrackBlock {
    /// @param sorted  in the order of beginsBefore; not empty, at most SliceColumns::kMaxSlices
    static std::shared_ptr<const TrackBlock> make(std::span<const RawSlice> sorted);
    explicit TrackBlock(std::span<const RawSlice> sorted);

    [[nodiscard]] std::uint32_t size() const { return columns.size(); }
    [[nodiscard]] RawSlice at(std::uint32_t position) const { return columns.at(position); }
    /// Position of the slice with that ordinal, if it is in this block.
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t ordinal) const;
    /// Positions with that link and role, in any order.
    [[nodiscard]] std::span<const std::uint16_t> linked(LinkRole role, std::int64_t link) const
    {
        return links.find(columns, role, link);
    }
    /// Calls `visit(position)` for every slice that overlaps [from, to), in order of start. If `visit` returns false,
    /// stops and returns false.
    template <class Visit>
    bool forEach(std::int64_t from, std::int64_t to, Visit&& visit) const;
    [[nodiscard]] std::size_t bytes() const;

    SliceColumns columns;
    BlockSummary summary;
    RowIndex rows;
    LinkIndex links;

private:
    void summarize(std::span<const RawSlice> sorted);
    void indexOrdinals(std::span<const RawSlice> sorted);
    /// Slices that start before `time` and end after it, in order of start: at most one per row.
    [[nodiscard]] std::vector<std::uint32_t> straddling(std::int64_t time) const;

    std::vector<std::uint16_t> m_byOrdinal; ///< positions by ordinal; empty if both orders agree
};

template <class Visit>
bool TrackBlock::forEach(std::int64_t from, std::int64_t to, Visit&& visit) const
{
    if (!summary.overlaps(from, to))
        return true;
    std::uint32_t first = 0;
    if (from > summary.firstBegin) {
        for (const std::uint32_t position : straddling(from)) {
            if (columns.begin(position) < to && !visit(position))
                return false;
        }
        first = columns.firstFrom(from);
    }
    for (std::uint32_t position = first; position < size() && columns.begin(position) < to; ++position) {
        if (!visit(position))
            return false;
    }
    return true;
}

} // namespace profiler
