#pragma once

#include "profiler/model/row_lod.h"
#include "profiler/model/slice_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// The entries of one row, by number. Valid as long as the block and the row.
class RowEntries {
public:
    /// For a row whose entries are looked up among all slices of the block.
    RowEntries(const Row& row, const SliceColumns& columns, const std::uint16_t* positions)
        : m_row(&row), m_columns(&columns.times()), m_positions(positions)
    {
    }
    /// For a row whose entries are stored contiguously.
    RowEntries(const Row& row, const TimeColumns& own, std::uint32_t first)
        : m_row(&row), m_columns(&own), m_first(first)
    {
    }
    [[nodiscard]] std::int64_t begin(std::uint32_t entry) const { return m_columns->begin[at(entry)]; }
    [[nodiscard]] std::int64_t duration(std::uint32_t entry) const { return m_columns->duration[at(entry)]; }
    [[nodiscard]] std::int64_t end(std::uint32_t entry) const { return begin(entry) + duration(entry); }
    [[nodiscard]] std::uint32_t name(std::uint32_t entry) const
    {
        return static_cast<std::uint32_t>(m_columns->name[at(entry)]);
    }
    /// The first entry that starts at `time` or later. O(log of its distance from `guess`).
    [[nodiscard]] std::uint32_t firstFrom(std::int64_t time, std::uint32_t guess) const;

private:
    [[nodiscard]] std::uint32_t at(std::uint32_t entry) const
    {
        return m_positions ? m_positions[entry] : m_first + entry;
    }
    const Row* m_row;
    const TimeColumns* m_columns;
    const std::uint16_t* m_positions = nullptr;
    std::uint32_t m_first = 0;
};

/// Maps slices of a block to rows, and stores the lowest level of large rows. Together with RowSummary, this is the
/// block's level-of-detail index. Takes about 3 bytes per slice, and up to 4 more for the time per name. Rows with few
/// of the block's slices are stored a second time, entry by entry: otherwise, iterating over such a row would cost
/// three cache misses per slice.
class RowIndex {
public:
    /// Builds both parts in linear time (n log n if slices of one depth overlap).
    /// @param sorted  in the order of beginsBefore, at most SliceColumns::kMaxSlices
    RowIndex(std::span<const RawSlice> sorted, RowSummary& summary);

    /// Position, in the columns, of an entry of a row.
    [[nodiscard]] std::uint32_t position(const Row& row, std::uint32_t entry) const
    {
        return m_positions[row.first + entry];
    }
    [[nodiscard]] RowLevel level(const RowSummary& summary, const Row& row, int level) const
    {
        return level < lod::lowestSummed(row) ? RowLevel{row, m_fine, row.fine, level} : summary.level(row, level);
    }

    [[nodiscard]] RowEntries entries(const SliceColumns& columns, const Row& row) const;
    /// Time per name in groups of 16 slices, see RowMix::fine.
    [[nodiscard]] std::span<const std::uint32_t> fineTimes() const { return m_fineTimes; }
    [[nodiscard]] std::size_t bytes() const;

private:
    void keepSparse(std::span<const RawSlice> sorted, std::span<const Row> rows);

    std::vector<std::uint16_t> m_positions;
    LodNodes m_fine;
    std::vector<std::uint32_t> m_fineTimes;
    /// A row that is stored entry by entry.
    struct Sparse {
        std::uint32_t row;   ///< Row::first of the row
        std::uint32_t first; ///< first entry in m_sparseTimes
    };
    std::vector<Sparse> m_sparse; ///< sorted by row
    TimeColumns m_sparseTimes;
};

} // namespace profiler
