#include "profiler/model/row_index.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace profiler {
namespace {

/// A row with less than this share of a block's slices is stored entry by entry …
constexpr std::size_t kSparse = 16;
/// … if all such rows together have at most this share of the slices …
constexpr std::size_t kMostSparse = 8;
/// … and the block is too large for a processor cache.
constexpr std::size_t kMinimumForSparse = 4096;

/// Assigns a row to each slice: a free row with its depth and kind, or a new one if there is none.
class RowAssigner {
public:
    /// Starts must not decrease from call to call.
    std::uint32_t assign(std::uint8_t depth, ActivityKind kind, std::int64_t begin, std::int64_t end);
    /// Rows in order of creation; only depth, kind and count are set.
    [[nodiscard]] std::vector<Row>& rows() { return m_rows; }

private:
    using EndAndRow = std::pair<std::int64_t, std::uint32_t>;
    using FirstFree = std::priority_queue<EndAndRow, std::vector<EndAndRow>, std::greater<>>;
    struct DepthRows {
        bool used = false;
        std::uint32_t row = 0; ///< the first row of this depth and kind; most have no others
        std::int64_t end = 0;  ///< end of the last slice in that row
        FirstFree others;
    };
    std::uint32_t make(std::uint8_t depth, ActivityKind kind);

    std::vector<DepthRows> m_depths; ///< indexed by depth and kind
    std::vector<Row> m_rows;
};

std::uint32_t RowAssigner::make(std::uint8_t depth, ActivityKind kind)
{
    Row row;
    row.depth = depth;
    row.kind = kind;
    m_rows.push_back(row);
    return static_cast<std::uint32_t>(m_rows.size() - 1);
}

std::uint32_t RowAssigner::assign(std::uint8_t depth, ActivityKind kind, std::int64_t begin, std::int64_t end)
{
    const std::size_t index = std::size_t{depth} * kActivityKinds + static_cast<std::size_t>(kind);
    if (index >= m_depths.size())
        m_depths.resize(index + 1);
    DepthRows& depthRows = m_depths[index];
    if (!depthRows.used || depthRows.end <= begin) {
        if (!depthRows.used)
            depthRows.row = make(depth, kind);
        depthRows.used = true;
        depthRows.end = end;
        ++m_rows[depthRows.row].count;
        return depthRows.row;
    }
    std::uint32_t row = 0;
    if (!depthRows.others.empty() && depthRows.others.top().first <= begin) {
        row = depthRows.others.top().second;
        depthRows.others.pop();
    } else {
        row = make(depth, kind);
    }
    depthRows.others.emplace(end, row);
    ++m_rows[row].count;
    return row;
}

/// Sorts rows by depth and kind, and updates `rowOf`.
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

/// A group under construction.
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

using NamesAndTimes = std::vector<std::pair<std::uint32_t, std::int64_t>>;

/// Builds the nodes of level 0, and sets the start, end and covered time of the row.
/// @param times  receives the name and duration of each entry
std::vector<Node> lowestNodes(std::span<const RawSlice> slices, std::span<const std::uint16_t> positions, Row& row,
                              NamesAndTimes& times)
{
    std::vector<Node> nodes;
    nodes.reserve(lod::groups(row, 0));
    times.clear();
    row.begin = slices[positions[row.first]].begin;
    row.end = slices[positions[row.first + row.count - 1]].end();
    const std::uint32_t inGroup = (1U << lod::shift(row, 0)) - 1;
    for (std::uint32_t entry = 0; entry < row.count; ++entry) {
        const RawSlice& slice = slices[positions[row.first + entry]];
        if ((entry & inGroup) == 0)
            nodes.push_back({slice.begin, row.covered, {}});
        nodes.back().longest.consider(slice.duration, slice.name);
        row.covered += slice.duration;
        times.emplace_back(slice.name, slice.duration);
    }
    return nodes;
}

/// Builds the nodes of the next level up.
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
    RowMixes mixes;
    RowMixMaker mixMaker;
    NamesAndTimes times;
    mixes.rows.reserve(rows.size());
    for (Row& row : rows) {
        row.fine = static_cast<std::uint32_t>(fine.size());
        row.coarse = static_cast<std::uint32_t>(coarse.size());
        auto nodes = lowestNodes(sorted, m_positions, row, times);
        mixMaker.add(times, mixes, m_fineTimes);
        for (int level = 0;; nodes = nodesAbove(nodes)) {
            auto& kept = level < lod::lowestSummed(row) ? fine : coarse;
            kept.insert(kept.end(), nodes.begin(), nodes.end());
            if (!lod::exists(row, ++level))
                break;
        }
    }
    m_fine = pack(fine);
    keepSparse(sorted, rows);
    mixes.names.shrink_to_fit();
    mixes.times.shrink_to_fit();
    m_fineTimes.shrink_to_fit();
    summary = RowSummary{std::move(rows), pack(coarse), std::move(mixes)};
}

/// Limits the stored rows to an eighth of the block's slices, so that rows of many depths do not add up to all slices.
void RowIndex::keepSparse(std::span<const RawSlice> sorted, std::span<const Row> rows)
{
    const std::size_t most = sorted.size() / kSparse;
    std::vector<std::uint16_t> positions;
    if (sorted.size() < kMinimumForSparse)
        return;
    for (const Row& row : rows) {
        if (row.count > most || positions.size() + row.count > sorted.size() / kMostSparse)
            continue;
        m_sparse.push_back({row.first, static_cast<std::uint32_t>(positions.size())});
        positions.insert(positions.end(), m_positions.begin() + row.first, m_positions.begin() + row.first + row.count);
    }
    m_sparse.shrink_to_fit();
    if (positions.empty())
        return;
    const auto pack = [&](auto valueOf) {
        ColumnRange range;
        range.start(valueOf(sorted[positions[0]]));
        for (const std::uint16_t position : positions)
            range.add(valueOf(sorted[position]));
        return range.pack(static_cast<std::uint32_t>(positions.size()),
                          [&](std::uint32_t i) { return valueOf(sorted[positions[i]]); });
    };
    m_sparseTimes.begin = pack([](const RawSlice& slice) { return slice.begin; });
    m_sparseTimes.duration = pack([](const RawSlice& slice) { return slice.duration; });
    m_sparseTimes.name = pack([](const RawSlice& slice) { return std::int64_t{slice.name}; });
}

RowEntries RowIndex::entries(const SliceColumns& columns, const Row& row) const
{
    const auto sparse = std::lower_bound(m_sparse.begin(), m_sparse.end(), row.first,
                                         [](const Sparse& a, std::uint32_t first) { return a.row < first; });
    if (sparse != m_sparse.end() && sparse->row == row.first)
        return {row, m_sparseTimes, sparse->first};
    return {row, columns, m_positions.data() + row.first};
}

std::uint32_t RowEntries::firstFrom(std::int64_t time, std::uint32_t guess) const
{
    const auto before = [&](std::uint32_t entry) { return begin(entry) < time; };
    std::uint32_t low = 0;
    std::uint32_t high = m_row->count;
    // Search away from the guess in growing steps until the entry is between two of them.
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

std::size_t RowIndex::bytes() const
{
    return m_positions.capacity() * sizeof(std::uint16_t) + m_fine.bytes() + m_sparse.capacity() * sizeof(Sparse) +
           m_sparseTimes.bytes() + m_fineTimes.capacity() * sizeof(std::uint32_t);
}

std::uint32_t RowLevel::groupAt(std::int64_t time, std::uint32_t guess) const
{
    // Search away from the guess in growing steps until the group is between two of them.
    std::uint32_t low = 0; // starts at `time` or earlier, or is 0
    std::uint32_t high = m_count;
    guess = std::min(guess, m_count - 1);
    if (begin(guess) <= time) {
        low = guess;
        for (std::uint32_t step = 1; low + step < high; step *= 2) {
            if (begin(low + step) > time) {
                high = low + step;
                break;
            }
            low += step;
        }
    } else {
        high = guess;
        for (std::uint32_t step = 1; high > 0; step *= 2) {
            const std::uint32_t next = high > step ? high - step : 0;
            if (begin(next) <= time) {
                low = next;
                break;
            }
            high = next;
        }
    }
    while (high - low > 1 && high > 0) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (begin(middle) <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

RowSummary::RowSummary(std::vector<Row> rows, LodNodes coarse, RowMixes mixes)
    : m_rows(std::move(rows)), m_coarse(std::move(coarse)), m_mixes(std::move(mixes))
{
    for (std::uint32_t i = 0; i < m_rows.size(); ++i) {
        while (m_depthFirstRow.size() <= m_rows[i].depth)
            m_depthFirstRow.push_back(i);
    }
    m_depthFirstRow.push_back(static_cast<std::uint32_t>(m_rows.size()));
    m_depthFirstRow.shrink_to_fit();
}

std::span<const Row> RowSummary::rows(int depth) const
{
    if (depth < 0 || depth >= depthCount())
        return {};
    const auto index = static_cast<std::size_t>(depth);
    return std::span{m_rows}.subspan(m_depthFirstRow[index], m_depthFirstRow[index + 1] - m_depthFirstRow[index]);
}

RowLevel RowSummary::level(const Row& row, int level) const
{
    std::uint32_t first = row.coarse;
    for (int below = lod::lowestSummed(row); below < level; ++below)
        first += lod::groups(row, below);
    return {row, m_coarse, first, level};
}

std::size_t RowSummary::bytes() const
{
    return m_rows.capacity() * sizeof(Row) + m_depthFirstRow.capacity() * sizeof(std::uint32_t) + m_coarse.bytes() +
           m_mixes.bytes();
}

} // namespace profiler
