#include "profiler/model/row_lod.h"

#include <algorithm>
#include <utility>

namespace profiler {

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
