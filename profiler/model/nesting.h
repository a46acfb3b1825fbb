#pragma once

#include "profiler/model/slice_columns.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// Finds the depths of slices that arrive in the order of beginsBefore. Of the earlier slices it keeps only the latest
/// end at each depth. A slice is one level deeper than the deepest slice that contains it. A slice that only overlaps
/// another gets the next free depth, so slices of one depth never overlap. Takes constant time per slice as long as all
/// slices nest.
class DepthScan {
public:
    DepthScan();

    /// Adds a slice whose depth is known.
    void add(const RawSlice& slice);
    /// Adds a slice and returns its depth.
    std::uint8_t infer(std::int64_t begin, std::int64_t end);
    /// True if the last inferred slice starts within an earlier slice and ends after it.
    [[nodiscard]] bool overlapped() const { return m_overlapped; }

private:
    [[nodiscard]] std::uint8_t search(std::int64_t begin, std::int64_t end) const;
    void put(std::uint8_t depth, std::int64_t end);

    std::array<std::int64_t, 256> m_ends;
    std::int64_t m_lastEnd;
    int m_depths = 0;                  ///< depths used so far
    int m_running = 0;                 ///< while all slices nest: number of running slices (deeper ones have ended)
    bool m_nested = true;              ///< each running slice contains the one above it
    std::vector<std::int64_t> m_begun; ///< ends of inferred slices in the order of their starts; the last one has not
                                       ///< ended
    bool m_overlapped = false;
};

/// Sets the depth of every slice in `slices` that has no depth yet, using DepthScan.
/// @param slices   of one track, in the order of beginsBefore
/// @param context  other slices of the track that overlap them, in the same order; their depths do not change
void inferDepths(std::span<RawSlice> slices, std::span<const RawSlice> context);

} // namespace profiler
