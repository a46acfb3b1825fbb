#pragma once

#include "profiler/model/row_lod.h"
#include "profiler/model/slice_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// The entries of one row, by their number. Valid as long as the block and the row.
class RowEntries {
public:
    /// Of a row whose entries are looked up among all slices of the block.
    RowEntries(const Row& row, const SliceColumns& columns, const std::uint16_t* positions)
        : m_row(&row), m_columns(&columns.times()), m_positions(positions)
    {
    }
    /// Of a row whose entries lie together.
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
    /// The first entry that begins at `time` or later. O(log of its distance from `guess`).
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

/// Which slices of a block are in which row, and the lowest level of large rows: with RowSummary the level-of-detail
/// index of a block. About 3 bytes a slice, and up to 4 more for the times of their names. Rows with few of the block's
/// slices are kept once more, entry by entry: who goes through one would otherwise fetch memory from three places for
/// each of its slices.
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

    [[nodiscard]] RowEntries entries(const SliceColumns& columns, const Row& row) const;
    /// Times by name in groups of 16, see RowMix::fine.
    [[nodiscard]] std::span<const std::uint32_t> fineTimes() const { return m_fineTimes; }
    [[nodiscard]] std::size_t bytes() const;

private:
    void keepSparse(std::span<const RawSlice> sorted, std::span<const Row> rows);

    std::vector<std::uint16_t> m_positions;
    LodNodes m_fine;
    std::vector<std::uint32_t> m_fineTimes;
    /// A row that is kept entry by entry.
    struct Sparse {
        std::uint32_t row;   ///< its Row::first
        std::uint32_t first; ///< in m_sparseTimes
    };
    std::vector<Sparse> m_sparse; ///< by row
    TimeColumns m_sparseTimes;
};

} // namespace profiler
