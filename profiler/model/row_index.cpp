#include "profiler/model/row_index.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace profiler {
namespace {

/// Gives each slice a row: the row of its depth and kind that is free first, a new one when none is free.
class RowAssigner {
public:
    std::uint32_t assign(std::uint8_t depth, ActivityKind kind, std::int64_t begin, std::int64_t end)
    {
        const std::size_t index = std::size_t{depth} * kActivityKinds + static_cast<std::size_t>(kind);
        if (index >= m_free.size())
            m_free.resize(index + 1);
        auto& free = m_free[index];
        std::uint32_t row = 0;
        if (!free.empty() && free.top().first <= begin) {
            row = free.top().second;
            free.pop();
        } else {
            row = static_cast<std::uint32_t>(m_rows.size());
            Row made;
            made.depth = depth;
            made.kind = kind;
            m_rows.push_back(made);
        }
        free.emplace(end, row);
        ++m_rows[row].count;
        return row;
    }
    std::vector<Row>& rows() { return m_rows; }

private:
    using EndAndRow = std::pair<std::int64_t, std::uint32_t>;
    using FirstFree = std::priority_queue<EndAndRow, std::vector<EndAndRow>, std::greater<>>;
    std::vector<FirstFree> m_free; ///< by depth and kind
    std::vector<Row> m_rows;
};

/// Sorts rows by depth and kind; `rowOf` follows.
void sortRows(std::vector<Row>& rows, std::vector<std::uint32_t>& rowOf)
{
    std::vector<std::uint32_t> order(rows.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair{rows[a].depth, rows[a].kind} < std::pair{rows[b].depth, rows[b].kind};
    });
    std::vector<Row> sorted;
    std::vector<std::uint32_t> newIndex(rows.size());
    sorted.reserve(rows.size());
    for (const std::uint32_t old : order) {
        newIndex[old] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(rows[old]);
    }
    rows = std::move(sorted);
    for (auto& row : rowOf)
        row = newIndex[row];
}

} // namespace

RowIndex::RowIndex(const SliceColumns& columns)
{
    RowAssigner assigner;
    std::vector<std::uint32_t> rowOf(columns.size());
    for (std::uint32_t i = 0; i < columns.size(); ++i)
        rowOf[i] = assigner.assign(columns.depth[i], columns.kind[i], columns.begin[i], columns.end(i));
    m_rows = std::move(assigner.rows());
    sortRows(m_rows, rowOf);
    m_rows.shrink_to_fit();
    fill(columns, rowOf);
    for (auto& row : m_rows) {
        buildSums(columns, row);
        buildPyramid(columns, row);
    }
    m_sums.shrink_to_fit();
    m_longest.shrink_to_fit();
}

void RowIndex::fill(const SliceColumns& columns, const std::vector<std::uint32_t>& rowOf)
{
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i].first = first;
        first += m_rows[i].count;
        while (m_depthFirstRow.size() <= m_rows[i].depth)
            m_depthFirstRow.push_back(i);
    }
    m_depthFirstRow.push_back(static_cast<std::uint32_t>(m_rows.size()));
    m_depthFirstRow.shrink_to_fit();
    m_positions.resize(columns.size());
    std::vector<std::uint32_t> filled(m_rows.size());
    for (std::uint32_t i = 0; i < columns.size(); ++i)
        m_positions[m_rows[rowOf[i]].first + filled[rowOf[i]]++] = i;
}

void RowIndex::buildSums(const SliceColumns& columns, Row& row)
{
    row.firstGroup = static_cast<std::uint32_t>(m_sums.size());
    std::int64_t sum = 0;
    for (std::uint32_t entry = 0; entry < row.count; ++entry) {
        if (entry % kGroup == 0)
            m_sums.push_back(sum);
        sum += columns.duration[position(row, entry)];
    }
}

void RowIndex::buildPyramid(const SliceColumns& columns, Row& row)
{
    row.firstNode = static_cast<std::uint32_t>(m_longest.size());
    for (std::uint32_t entry = 0; entry < row.count; ++entry) {
        const std::uint32_t here = position(row, entry);
        if (entry % kGroup == 0)
            m_longest.push_back({columns.duration[here], here});
        else if (columns.duration[here] > m_longest.back().duration)
            m_longest.back() = {columns.duration[here], here};
    }
    std::size_t level = row.firstNode;
    for (std::size_t nodes = m_longest.size() - level; nodes > 1; nodes = (nodes + 1) / 2) {
        for (std::size_t i = 0; i < nodes; i += 2) {
            const Longest left = m_longest[level + i];
            const Longest right = m_longest[level + std::min(i + 1, nodes - 1)];
            m_longest.push_back(right.duration > left.duration ? right : left);
        }
        level += nodes;
    }
}

std::span<const Row> RowIndex::rows(int depth) const
{
    if (depth < 0 || depth >= depthCount())
        return {};
    const auto index = static_cast<std::size_t>(depth);
    return std::span{m_rows}.subspan(m_depthFirstRow[index], m_depthFirstRow[index + 1] - m_depthFirstRow[index]);
}

std::uint32_t RowIndex::firstFrom(const SliceColumns& columns, const Row& row, std::int64_t time, std::uint32_t from,
                                  std::uint32_t guess) const
{
    const auto before = [&](std::uint32_t entry) { return columns.begin[position(row, entry)] < time; };
    std::uint32_t low = from;
    std::uint32_t high = row.count;
    // Away from the guess in growing steps, until the entry lies between two of them.
    guess = std::max(guess, from);
    std::uint32_t step = 1;
    if (guess < high && before(guess)) {
        low = guess + 1;
        for (std::uint32_t next = low; next < high; step *= 2) {
            if (!before(next)) {
                high = next;
                break;
            }
            low = next + 1;
            next = step < high - low ? low + step : high;
        }
    } else {
        high = std::min(guess, high);
        while (low < high) {
            const std::uint32_t next = step < high - low ? high - step : low;
            if (before(next)) {
                low = next + 1;
                break;
            }
            high = next;
            step *= 2;
        }
    }
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (before(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

RowSpan RowIndex::overlapping(const SliceColumns& columns, const Row& row, std::int64_t begin, std::int64_t end,
                              std::uint32_t from, std::uint32_t expect) const
{
    RowSpan span;
    span.begin = firstFrom(columns, row, begin, from, from);
    const std::uint32_t room = row.count - span.begin;
    span.end = firstFrom(columns, row, end, span.begin, span.begin + std::min(expect, room));
    if (span.begin > 0 && columns.end(position(row, span.begin - 1)) > begin)
        --span.begin;
    return span;
}

std::int64_t RowIndex::sumBefore(const SliceColumns& columns, const Row& row, std::uint32_t entry) const
{
    if (entry == 0)
        return 0;
    const std::uint32_t group = (entry - 1) / kGroup;
    std::int64_t sum = m_sums[row.firstGroup + group];
    for (std::uint32_t i = group * kGroup; i < entry; ++i)
        sum += columns.duration[position(row, i)];
    return sum;
}

std::int64_t RowIndex::covered(const SliceColumns& columns, const Row& row, RowSpan entries, std::int64_t begin,
                               std::int64_t end) const
{
    if (entries.count() == 0)
        return 0;
    const std::int64_t sum = sumBefore(columns, row, entries.end) - sumBefore(columns, row, entries.begin);
    const std::int64_t early = begin - columns.begin[position(row, entries.begin)];
    const std::int64_t late = columns.end(position(row, entries.end - 1)) - end;
    return sum - std::max<std::int64_t>(early, 0) - std::max<std::int64_t>(late, 0);
}

std::uint32_t RowIndex::longest(const SliceColumns& columns, const Row& row, RowSpan entries) const
{
    Longest best{-1, 0};
    const auto consider = [&](Longest other) {
        if (other.duration > best.duration || (other.duration == best.duration && other.position < best.position))
            best = other;
    };
    const auto considerEntries = [&](std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t entry = begin; entry < end; ++entry)
            consider({columns.duration[position(row, entry)], position(row, entry)});
    };
    std::uint32_t low = (entries.begin + kGroup - 1) / kGroup;
    std::uint32_t high = entries.end / kGroup;
    const std::uint32_t headEnd = std::min(low * kGroup, entries.end);
    considerEntries(entries.begin, headEnd);
    considerEntries(std::max(high * kGroup, headEnd), entries.end);
    std::size_t level = row.firstNode;
    std::size_t nodes = (row.count + kGroup - 1) / kGroup;
    while (low < high) {
        if (low % 2 == 1)
            consider(m_longest[level + low++]);
        if (high % 2 == 1)
            consider(m_longest[level + --high]);
        low /= 2;
        high /= 2;
        level += nodes;
        nodes = (nodes + 1) / 2;
    }
    return best.position;
}

std::size_t RowIndex::bytes() const
{
    return m_rows.capacity() * sizeof(Row) + m_depthFirstRow.capacity() * sizeof(std::uint32_t) +
           m_positions.capacity() * sizeof(std::uint32_t) + m_sums.capacity() * sizeof(std::int64_t) +
           m_longest.capacity() * sizeof(Longest);
}

} // namespace profiler
