#pragma once

#include "profiler/model/row_lod.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace profiler {

/// Gives each slice a row: one of its depth and kind that is free, a new one when none is.
class RowAssigner {
public:
    /// Begins rise from call to call.
    std::uint32_t assign(std::uint8_t depth, ActivityKind kind, std::int64_t begin, std::int64_t end);
    /// Rows as they were made; only depth, kind and count are set.
    [[nodiscard]] std::vector<Row>& rows() { return m_rows; }

private:
    using EndAndRow = std::pair<std::int64_t, std::uint32_t>;
    using FirstFree = std::priority_queue<EndAndRow, std::vector<EndAndRow>, std::greater<>>;
    struct Lane {
        bool used = false;
        std::uint32_t row = 0; ///< the first of its depth and kind: most lanes have no other
        std::int64_t end = 0;  ///< of that row
        FirstFree others;
    };
    std::uint32_t make(std::uint8_t depth, ActivityKind kind);

    std::vector<Lane> m_lanes; ///< by depth and kind
    std::vector<Row> m_rows;
};

} // namespace profiler
