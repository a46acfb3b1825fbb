#pragma once

#include "profiler/model/row_lod.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace profiler {

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

} // namespace profiler
