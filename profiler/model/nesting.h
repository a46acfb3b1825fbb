#pragma once

#include "profiler/model/raw_slice.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// Finds depths of slices that come in the order of beginsBefore, and knows of those before them only the latest end at
/// each depth. A slice is one deeper than the deepest slice that contains it; one that only overlaps another gets the
/// next free depth, so that slices of a depth do not overlap. Constant time while all is nested.
class DepthScan {
public:
    DepthScan();

    /// A slice whose depth is known.
    void add(const RawSlice& slice);
    /// The depth of a slice, which is added.
    std::uint8_t infer(std::int64_t begin, std::int64_t end);
    /// The last slice that was inferred ends after one that it begins in.
    [[nodiscard]] bool overlapped() const { return m_overlapped; }

private:
    [[nodiscard]] std::uint8_t search(std::int64_t begin, std::int64_t end) const;
    void put(std::uint8_t depth, std::int64_t end);

    std::array<std::int64_t, 256> m_ends;
    std::int64_t m_lastEnd;
    int m_depths = 0;                  ///< used so far
    int m_running = 0;                 ///< while all is nested: what lies above has ended
    bool m_nested = true;              ///< each running slice contains the one above it
    std::vector<std::int64_t> m_begun; ///< ends of inferred slices in the order of their begins; the last has not ended
    bool m_overlapped = false;
};

/// Sets the depth of every slice of `slices` whose depth is to be inferred, as DepthScan does.
/// @param slices   of one track, in the order of beginsBefore
/// @param context  other slices of the track that overlap them, same order; their depths stand
void inferDepths(std::span<RawSlice> slices, std::span<const RawSlice> context);

} // namespace profiler
