#pragma once

#include "profiler/model/row_lod.h"
#include "profiler/model/slice_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// Which slices of a block are in which row, and the lowest level of large rows: with RowSummary the level-of-detail
/// index of a block. About 3 bytes a slice.
class RowIndex {
public:
    /// Makes both parts in linear time (n log n where slices of a depth overlap).
    /// @param sorted  in the order of beginsBefore, at most SliceColumns::kMaxSlices
    RowIndex(std::span<const RawSlice> sorted, RowSummary& summary);

    /// Position in the columns of an entry of a row.
    [[nodiscard]] std::uint32_t position(const Row& row, std::uint32_t entry) const
    {
        return m_positions[row.first + entry];
    }
    [[nodiscard]] RowLevel level(const RowSummary& summary, const Row& row, int level) const
    {
        return level < lod::lowestSummed(row) ? RowLevel{row, m_fine, row.fine, level} : summary.level(row, level);
    }

    /// The first entry that begins at `time` or later. O(log of its distance from `guess`).
    [[nodiscard]] std::uint32_t firstFrom(const SliceColumns& columns, const Row& row, std::int64_t time,
                                          std::uint32_t guess) const;
    [[nodiscard]] std::size_t bytes() const;

private:
    std::vector<std::uint16_t> m_positions;
    LodNodes m_fine;
};

} // namespace profiler
