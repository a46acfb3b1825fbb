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

namespace profiler {

/// What a slice's link joins, and which end of the arrow it is.
enum class LinkRole : std::uint8_t { LaunchCall, LaunchedWork, ForwardOp, BackwardOp };
inline constexpr int kLinkRoles = 4;
/// Empty for a slice that no arrow can touch.
std::optional<LinkRole> linkRole(const RawSlice& slice);

/// Positions of the slices of one role, sorted by link.
struct LinkIndex {
    std::vector<std::uint32_t> positions;
    std::int64_t smallest = 0, largest = -1; ///< link; largest < smallest: none
};

/// Sealed columns of one track. Immutable, shared by snapshots, about 56 bytes a slice. SliceIds keep their arrival
/// ordinals although a block is sorted by begin: a column holds each slice's ordinal, and a permutation finds the slice
/// of an ordinal.
struct TrackBlock {
    /// @param sorted  in the order of beginsBefore; not empty
    static std::shared_ptr<const TrackBlock> make(std::span<const RawSlice> sorted);
    explicit TrackBlock(SliceColumns made);

    [[nodiscard]] std::uint32_t size() const { return columns.size(); }
    [[nodiscard]] RawSlice at(std::uint32_t position) const;
    /// Position of the slice of that ordinal, if it is in this block.
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t ordinal) const;
    /// Positions with that link and role, in any order.
    [[nodiscard]] std::span<const std::uint32_t> linked(LinkRole role, std::int64_t link) const;
    /// Calls `visit(position)` for every slice that overlaps [from, to), in begin order; false from `visit` stops and
    /// is returned.
    template <class Visit>
    bool forEach(std::int64_t from, std::int64_t to, Visit&& visit) const;
    [[nodiscard]] bool holds(ActivityKind kind) const { return (kinds >> static_cast<int>(kind) & 1) != 0; }
    [[nodiscard]] std::size_t bytes() const;

    SliceColumns columns;
    RowIndex rows;
    std::int64_t firstBegin = 0, lastEnd = 0;
    std::uint32_t kinds = 0; ///< bit per ActivityKind
    bool inferred = false;   ///< some depths were found from the intervals

private:
    void indexOrdinals();
    void indexLinks();
    /// Slices that begin before `time` and end after it, in begin order: at most one of each row.
    [[nodiscard]] std::vector<std::uint32_t> straddling(std::int64_t time) const;

    std::vector<std::uint32_t> m_byOrdinal; ///< positions by ordinal; empty where both orders agree
    std::uint32_t m_smallestOrdinal = 0, m_largestOrdinal = 0;
    std::array<LinkIndex, kLinkRoles> m_links;
};

template <class Visit>
bool TrackBlock::forEach(std::int64_t from, std::int64_t to, Visit&& visit) const
{
    if (firstBegin >= to || lastEnd < from)
        return true;
    for (const std::uint32_t position : straddling(from)) {
        if (columns.begin[position] < to && !visit(position))
            return false;
    }
    const auto& begin = columns.begin;
    const auto first = std::lower_bound(begin.begin(), begin.end(), from) - begin.begin();
    for (auto position = static_cast<std::uint32_t>(first); position < size() && begin[position] < to; ++position) {
        if (!visit(position))
            return false;
    }
    return true;
}

} // namespace profiler
