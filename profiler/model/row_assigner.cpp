#include "profiler/model/row_assigner.h"

namespace profiler {

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

} // namespace profiler
