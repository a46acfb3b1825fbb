#include "profiler/model/row_index.h"

#include "profiler/model/row_assigner.h"

#include <algorithm>
#include <utility>

namespace profiler {
namespace {

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
    std::uint32_t first = 0;
    for (const std::uint32_t old : order) {
        newIndex[old] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(rows[old]);
        sorted.back().first = first;
        first += rows[old].count;
    }
    rows = std::move(sorted);
    for (auto& row : rowOf)
        row = newIndex[row];
}

/// A group in the making.
struct Node {
    std::int64_t begin, before;
    Longest longest;
};

LodNodes pack(const std::vector<Node>& nodes)
{
    LodNodes packed;
    ColumnRange begin, before, duration, name;
    if (!nodes.empty()) {
        begin.start(nodes[0].begin);
        before.start(nodes[0].before);
        duration.start(nodes[0].longest.duration);
        name.start(nodes[0].longest.name);
    }
    for (const Node& node : nodes) {
        begin.add(node.begin);
        before.add(node.before);
        duration.add(node.longest.duration);
        name.add(node.longest.name);
    }
    const auto size = static_cast<std::uint32_t>(nodes.size());
    packed.begin = begin.pack(size, [&](std::uint32_t i) { return nodes[i].begin; });
    packed.before = before.pack(size, [&](std::uint32_t i) { return nodes[i].before; });
    packed.duration = duration.pack(size, [&](std::uint32_t i) { return nodes[i].longest.duration; });
    packed.name = name.pack(size, [&](std::uint32_t i) { return nodes[i].longest.name; });
    return packed;
}

/// Nodes of level 0, and what is known of the row as a whole.
std::vector<Node> lowestNodes(std::span<const RawSlice> slices, std::span<const std::uint16_t> positions, Row& row)
{
    std::vector<Node> nodes;
    nodes.reserve(lod::groups(row, 0));
    row.begin = slices[positions[row.first]].begin;
    row.end = slices[positions[row.first + row.count - 1]].end();
    const std::uint32_t inGroup = (1U << lod::shift(row, 0)) - 1;
    for (std::uint32_t entry = 0; entry < row.count; ++entry) {
        const RawSlice& slice = slices[positions[row.first + entry]];
        if ((entry & inGroup) == 0)
            nodes.push_back({slice.begin, row.covered, {}});
        nodes.back().longest.consider(slice.duration, slice.name);
        row.covered += slice.duration;
    }
    return nodes;
}

/// Nodes of the level above.
std::vector<Node> nodesAbove(const std::vector<Node>& below)
{
    std::vector<Node> nodes;
    nodes.reserve((below.size() + 3) / 4);
    for (std::size_t i = 0; i < below.size(); ++i) {
        if (i % 4 == 0)
            nodes.push_back(below[i]);
        else
            nodes.back().longest.consider(below[i].longest.duration, below[i].longest.name);
    }
    return nodes;
}

} // namespace

RowIndex::RowIndex(std::span<const RawSlice> sorted, RowSummary& summary)
{
    RowAssigner assigner;
    std::vector<std::uint32_t> rowOf(sorted.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i)
        rowOf[i] = assigner.assign(sorted[i].depth, sorted[i].kind, sorted[i].begin, sorted[i].end());
    std::vector<Row> rows = std::move(assigner.rows());
    sortRows(rows, rowOf);
    rows.shrink_to_fit();
    m_positions.resize(sorted.size());
    std::vector<std::uint32_t> next(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        next[i] = rows[i].first;
    for (std::uint32_t i = 0; i < sorted.size(); ++i)
        m_positions[next[rowOf[i]]++] = static_cast<std::uint16_t>(i);
    std::vector<Node> fine, coarse;
    for (Row& row : rows) {
        row.fine = static_cast<std::uint32_t>(fine.size());
        row.coarse = static_cast<std::uint32_t>(coarse.size());
        auto nodes = lowestNodes(sorted, m_positions, row);
        for (int level = 0;; nodes = nodesAbove(nodes)) {
            auto& kept = level < lod::lowestSummed(row) ? fine : coarse;
            kept.insert(kept.end(), nodes.begin(), nodes.end());
            if (!lod::exists(row, ++level))
                break;
        }
    }
    m_fine = pack(fine);
    summary = RowSummary{std::move(rows), pack(coarse)};
}

std::uint32_t RowIndex::firstFrom(const SliceColumns& columns, const Row& row, std::int64_t time, std::uint32_t from,
                                  std::uint32_t guess) const
{
    const auto before = [&](std::uint32_t entry) { return columns.begin(position(row, entry)) < time; };
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

RowSpan RowIndex::overlapping(const SliceColumns& columns, const Row& row, std::int64_t begin, std::int64_t end) const
{
    RowSpan span;
    span.begin = firstFrom(columns, row, begin, 0, row.count / 2);
    span.end = firstFrom(columns, row, end, span.begin, span.begin);
    if (span.begin > 0 && columns.end(position(row, span.begin - 1)) > begin)
        --span.begin;
    return span;
}

std::int64_t RowIndex::addEntries(const SliceColumns& columns, const Row& row, std::uint32_t begin, std::uint32_t end,
                                  Longest& longest) const
{
    std::int64_t sum = 0;
    std::uint32_t best = 0;
    std::int64_t duration = longest.duration;
    for (std::uint32_t entry = begin; entry < end; ++entry) {
        const std::uint32_t here = position(row, entry);
        const std::int64_t its = columns.duration(here);
        sum += its;
        if (its > duration) {
            duration = its;
            best = here;
        }
    }
    if (duration > longest.duration)
        longest = {duration, columns.name(best)};
    return sum;
}

std::int64_t RowIndex::covered(const RowSummary& summary, const SliceColumns& columns, const Row& row, RowSpan entries,
                               std::int64_t begin, std::int64_t end, Longest& longest) const
{
    const RowLevel lowest = level(summary, row, 0);
    const std::uint32_t shift = lowest.shift();
    std::uint32_t low = (entries.begin + (1U << shift) - 1) >> shift; // whole groups
    std::uint32_t high = entries.end >> shift;
    std::int64_t sum = 0;
    if (low + 1 >= high) {
        sum = addEntries(columns, row, entries.begin, entries.end, longest);
    } else {
        sum = lowest.before(high) - lowest.before(low);
        sum += addEntries(columns, row, entries.begin, low << shift, longest);
        sum += addEntries(columns, row, high << shift, entries.end, longest);
        for (int at = 0; low < high; ++at, low /= 4, high /= 4) {
            const RowLevel groups = level(summary, row, at);
            const bool last = !lod::exists(row, at + 1);
            while (low < high && (last || low % 4 != 0))
                groups.considerLongest(low++, longest);
            while (low < high && high % 4 != 0)
                groups.considerLongest(--high, longest);
        }
    }
    const std::int64_t early = begin - columns.begin(position(row, entries.begin));
    const std::int64_t late = columns.end(position(row, entries.end - 1)) - end;
    return sum - std::max<std::int64_t>(early, 0) - std::max<std::int64_t>(late, 0);
}

std::size_t RowIndex::bytes() const
{
    return m_positions.capacity() * sizeof(std::uint16_t) + m_fine.bytes();
}

} // namespace profiler
