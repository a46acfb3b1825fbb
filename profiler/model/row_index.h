#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/row_mix.h"
#include "profiler/model/slice_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

/// The level-of-detail index of a block: its slices as rows without overlaps, and groups of their entries, so that a
/// span of pixels costs the same however many slices it contains.
namespace profiler {

/// Slices of one block, depth and kind that do not overlap: starts and ends both increase, so every query about a time
/// span is a binary search. If slices of a depth overlap, they are spread over several rows.
struct Row {
    std::uint8_t depth = 0;
    ActivityKind kind = ActivityKind::Other;
    std::uint32_t first = 0, count = 0; ///< entries in RowIndex
    std::uint32_t fine = 0, coarse = 0; ///< first node in the block; first node in its summary
    std::int64_t begin = 0, end = 0;    ///< start of the first entry, end of the last
    std::int64_t covered = 0;           ///< total ns of all entries
};

/// The longest of several slices.
struct Longest {
    std::int64_t duration = -1;
    std::uint32_t name = 0;

    void consider(std::int64_t otherDuration, std::uint32_t otherName)
    {
        if (otherDuration > duration)
            *this = {otherDuration, otherName};
    }
};

/// Groups of entries. A group of level 0 holds 16 entries in a row of more than 256, otherwise 4 or 1; a group of each
/// higher level holds four groups of the level below. Level 0 always exists; a higher level exists if it has more than
/// one group.
namespace lod {
/// Rows with more entries store level 0 in the block; all others store it in the summary.
inline constexpr std::uint32_t kWhollySummed = 1024;

/// log2 of the number of entries in a group.
constexpr std::uint32_t shift(const Row& row, int level)
{
    return (row.count <= 64 ? 0U : row.count <= 256 ? 2U : 4U) + 2 * static_cast<std::uint32_t>(level);
}
constexpr std::uint32_t groups(const Row& row, int level)
{
    const std::uint32_t bits = shift(row, level);
    return (row.count + (1U << bits) - 1) >> bits;
}
constexpr bool exists(const Row& row, int level)
{
    return level == 0 || row.count > 1U << shift(row, level);
}
constexpr int highest(const Row& row)
{
    int level = 0;
    while (exists(row, level + 1))
        ++level;
    return level;
}
/// The lowest level that is always in memory.
constexpr int lowestSummed(const Row& row)
{
    return row.count > kWhollySummed ? 1 : 0;
}
/// The lowest level whose groups have 16 or more entries.
constexpr int lowestOf16(const Row& row)
{
    return row.count <= 64 ? 2 : row.count <= 256 ? 1 : 0;
}
} // namespace lod

/// Data of each group of entries.
struct LodNodes {
    PackedColumn begin;    ///< start of the group's first entry
    PackedColumn before;   ///< ns covered by the row's entries before the group
    PackedColumn duration; ///< of the longest entry
    PackedColumn name;     ///< of the longest entry

    [[nodiscard]] std::size_t bytes() const { return begin.bytes() + before.bytes() + duration.bytes() + name.bytes(); }
};

/// One level of one row.
class RowLevel {
public:
    RowLevel(const Row& row, const LodNodes& nodes, std::uint32_t first, int level)
        : m_row(&row), m_nodes(&nodes), m_first(first), m_count(lod::groups(row, level)),
          m_shift(lod::shift(row, level))
    {
    }
    [[nodiscard]] std::uint32_t count() const { return m_count; }
    [[nodiscard]] std::uint32_t shift() const { return m_shift; }
    [[nodiscard]] std::int64_t begin(std::uint32_t group) const
    {
        return group < m_count ? m_nodes->begin[m_first + group] : m_row->end;
    }
    [[nodiscard]] std::int64_t before(std::uint32_t group) const
    {
        return group < m_count ? m_nodes->before[m_first + group] : m_row->covered;
    }
    void considerLongest(std::uint32_t group, Longest& best) const
    {
        const std::int64_t duration = m_nodes->duration[m_first + group];
        if (duration > best.duration)
            best = {duration, static_cast<std::uint32_t>(m_nodes->name[m_first + group])};
    }
    /// The last group that starts at `time` or earlier, or 0 if there is none; the search starts at `guess`.
    [[nodiscard]] std::uint32_t groupAt(std::int64_t time, std::uint32_t guess) const;

private:
    const Row* m_row;
    const LodNodes* m_nodes;
    std::uint32_t m_first, m_count, m_shift;
};

/// The part of a block's rows that is always in memory: enough to draw them when a pixel holds many slices. Takes half
/// a byte per slice, and up to one more for the time per name.
class RowSummary {
public:
    RowSummary() = default;
    /// @param coarse  nodes of the levels from lowestSummed() up, row by row, level by level
    RowSummary(std::vector<Row> rows, LodNodes coarse, RowMixes mixes);

    /// All rows, sorted by depth, then kind.
    [[nodiscard]] std::span<const Row> rows() const { return m_rows; }
    [[nodiscard]] std::span<const Row> rows(int depth) const;
    /// Deepest nesting + 1.
    [[nodiscard]] int depthCount() const { return static_cast<int>(m_depthFirstRow.size()) - 1; }
    /// @param level  an existing level, from lowestSummed() up
    [[nodiscard]] RowLevel level(const Row& row, int level) const;
    [[nodiscard]] const LodNodes& coarse() const { return m_coarse; }
    [[nodiscard]] const RowMixes& mixes() const { return m_mixes; }
    /// How the time of one of rows() is divided among names; null if unknown.
    [[nodiscard]] const RowMix* mix(std::size_t row) const
    {
        return row < m_mixes.rows.size() ? &m_mixes.rows[row] : nullptr;
    }
    [[nodiscard]] std::size_t bytes() const;

private:
    std::vector<Row> m_rows;
    std::vector<std::uint32_t> m_depthFirstRow; ///< first row of each depth, plus one entry at the end
    LodNodes m_coarse;
    RowMixes m_mixes;
};

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
