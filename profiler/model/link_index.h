#pragma once

#include "profiler/model/slice_columns.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

} // namespace profiler
