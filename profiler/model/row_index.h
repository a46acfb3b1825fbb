#pragma once

#include "profiler/model/slice_columns.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// Slices of one depth and one kind that do not overlap: both begins and ends rise, so that every question about a span
/// of time is a binary search. Slices of a depth that do overlap lie in several rows.
struct Row {
    std::uint8_t depth = 0;
    ActivityKind kind = ActivityKind::Other;
    std::uint32_t first = 0, count = 0; ///< in RowIndex::m_positions
    std::uint32_t firstGroup = 0;       ///< in RowIndex::m_sums
    std::uint32_t firstNode = 0;        ///< in RowIndex::m_longest
};

/// Entries [begin, end) of a row.
struct RowSpan {
    std::uint32_t begin = 0, end = 0;
    [[nodiscard]] std::uint32_t count() const { return end - begin; }
};

/// The level-of-detail index of a block: its slices by row, running sums of their durations, and for each row a pyramid
/// of the longest slice of 16, 32, 64… entries. About 7 bytes a slice.
class RowIndex {
public:
    explicit RowIndex(const SliceColumns& columns);

    /// All rows, by depth, then kind.
    [[nodiscard]] std::span<const Row> rows() const { return m_rows; }
    [[nodiscard]] std::span<const Row> rows(int depth) const;
    /// Deepest nesting + 1.
    [[nodiscard]] int depthCount() const { return static_cast<int>(m_depthFirstRow.size()) - 1; }
    /// Position in the columns of an entry of a row.
    [[nodiscard]] std::uint32_t position(const Row& row, std::uint32_t entry) const
    {
        return m_positions[row.first + entry];
    }

    /// The first entry at or after `from` that begins at `time` or later. O(log of its distance from `guess`).
    [[nodiscard]] std::uint32_t firstFrom(const SliceColumns& columns, const Row& row, std::int64_t time,
                                          std::uint32_t from = 0, std::uint32_t guess = 0) const;
    /// Entries that overlap [begin, end). An empty slice lies where it begins.
    /// @param from    an entry that none before it overlaps, but the one just before
    /// @param expect  how many entries there may be: a good guess saves time
    [[nodiscard]] RowSpan overlapping(const SliceColumns& columns, const Row& row, std::int64_t begin, std::int64_t end,
                                      std::uint32_t from = 0, std::uint32_t expect = 0) const;
    /// Time that entries which overlap [begin, end) cover of it.
    [[nodiscard]] std::int64_t covered(const SliceColumns& columns, const Row& row, RowSpan entries, std::int64_t begin,
                                       std::int64_t end) const;
    /// Position of the longest (the first of equals) of some entries, at least one. O(log n).
    [[nodiscard]] std::uint32_t longest(const SliceColumns& columns, const Row& row, RowSpan entries) const;

    [[nodiscard]] std::size_t bytes() const;

private:
    void fill(const SliceColumns& columns, const std::vector<std::uint32_t>& rowOf);
    void buildSums(const SliceColumns& columns, Row& row);
    void buildPyramid(const SliceColumns& columns, Row& row);
    [[nodiscard]] std::int64_t sumBefore(const SliceColumns& columns, const Row& row, std::uint32_t entry) const;

    static constexpr std::uint32_t kGroup = 16;
    std::vector<Row> m_rows;
    std::vector<std::uint32_t> m_depthFirstRow; ///< depth → its first row; one more at the end
    std::vector<std::uint32_t> m_positions;
    std::vector<std::int64_t> m_sums; ///< by group of a row: ns of the row's entries before it
    /// The longest slice of a group, or of two nodes of the level below.
    struct Longest {
        std::int64_t duration;
        std::uint32_t position;
    };
    std::vector<Longest> m_longest; ///< by level, group
};

} // namespace profiler
