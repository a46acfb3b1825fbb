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
    if (index >= m_lanes.size())
        m_lanes.resize(index + 1);
    Lane& lane = m_lanes[index];
    if (!lane.used || lane.end <= begin) {
        if (!lane.used)
            lane.row = make(depth, kind);
        lane.used = true;
        lane.end = end;
        ++m_rows[lane.row].count;
        return lane.row;
    }
    std::uint32_t row = 0;
    if (!lane.others.empty() && lane.others.top().first <= begin) {
        row = lane.others.top().second;
        lane.others.pop();
    } else {
        row = make(depth, kind);
    }
    lane.others.emplace(end, row);
    ++m_rows[row].count;
    return row;
}

} // namespace profiler
