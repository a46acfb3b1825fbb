#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/packed_column.h"
#include "profiler/model/row_mix.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profiler {

/// Slices of one block, one depth and one kind that do not overlap: both begins and ends rise, so that every question
/// about a span of time is a binary search. Slices of a depth that do overlap lie in several rows.
struct Row {
    std::uint8_t depth = 0;
    ActivityKind kind = ActivityKind::Other;
    std::uint32_t first = 0, count = 0; ///< entries, in RowIndex
    std::uint32_t fine = 0, coarse = 0; ///< first node in the block, in its summary
    std::int64_t begin = 0, end = 0;    ///< of the first, of the last entry
    std::int64_t covered = 0;           ///< ns of all entries
};

/// The longest of some slices.
struct Longest {
    std::int64_t duration = -1;
    std::uint32_t name = 0;

    void consider(std::int64_t otherDuration, std::uint32_t otherName)
    {
        if (otherDuration > duration)
            *this = {otherDuration, otherName};
    }
};

/// Groups of entries. Those of level 0 hold 16 entries in a row of more than 256, else 4 or 1; each level above it four
/// of the one below. A level exists where it has more than one group; level 0 always does.
namespace lod {
/// Rows with more entries have their level 0 in the block, the others in its summary.
inline constexpr std::uint32_t kWhollySummed = 1024;

/// log2 of a group's entries.
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
/// The lowest level of groups of 16 or more.
constexpr int lowestOf16(const Row& row)
{
    return row.count <= 64 ? 2 : row.count <= 256 ? 1 : 0;
}
} // namespace lod

/// What is known of groups of entries, group by group.
struct LodNodes {
    PackedColumn begin;    ///< of the group's first entry
    PackedColumn before;   ///< ns that the row's entries before the group cover
    PackedColumn duration; ///< of the longest
    PackedColumn name;     ///< of the longest

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
    /// The last group that begins at `time` or earlier, 0 where none does; searched from `guess` outwards.
    [[nodiscard]] std::uint32_t groupAt(std::int64_t time, std::uint32_t guess) const;

private:
    const Row* m_row;
    const LodNodes* m_nodes;
    std::uint32_t m_first, m_count, m_shift;
};

/// What is always in memory of a block's rows: enough to draw them where a pixel holds many slices. Half a byte a
/// slice, and up to one more for the times of its names.
class RowSummary {
public:
    RowSummary() = default;
    /// @param coarse  nodes of the levels from lowestSummed() up, row by row, level by level
    RowSummary(std::vector<Row> rows, LodNodes coarse, RowMixes mixes);

    /// All rows, by depth, then kind.
    [[nodiscard]] std::span<const Row> rows() const { return m_rows; }
    [[nodiscard]] std::span<const Row> rows(int depth) const;
    /// Deepest nesting + 1.
    [[nodiscard]] int depthCount() const { return static_cast<int>(m_depthFirstRow.size()) - 1; }
    /// @param level  one that exists, from lowestSummed() up
    [[nodiscard]] RowLevel level(const Row& row, int level) const;
    [[nodiscard]] const LodNodes& coarse() const { return m_coarse; }
    [[nodiscard]] const RowMixes& mixes() const { return m_mixes; }
    /// How the time of one of rows() divides among names; null where that is not known.
    [[nodiscard]] const RowMix* mix(std::size_t row) const
    {
        return row < m_mixes.rows.size() ? &m_mixes.rows[row] : nullptr;
    }
    [[nodiscard]] std::size_t bytes() const;

private:
    std::vector<Row> m_rows;
    std::vector<std::uint32_t> m_depthFirstRow; ///< depth → its first row; one more at the end
    LodNodes m_coarse;
    RowMixes m_mixes;
};

} // namespace profiler
