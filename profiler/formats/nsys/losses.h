#pragma once

#include "profiler/model/capture_stats.h"
#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::nsys {

/// Defects of rows in an export.
enum class Loss : std::uint8_t {
    NoLaunch,
    NoTime,  ///< dropped
    FarTime, ///< dropped: outside the TimeWindow
    NoPlace, ///< dropped: an invalid device or stream number
    NegativeTime,
    Backwards,
    Open,
    NoName, ///< an id that is missing from StringIds
    NegativeBytes,
    SharedCall, ///< a correlation id shared with another call of the process
    Doubled,    ///< device work that occurred before
    Overlapping,
    Count,
};

/// For each kind of loss, the number of rows and the first one. Also collects damaged tables and events lost by the
/// profiler.
class Losses {
public:
    /// Counts rows of a table; `row` is the first of them. The first row reported for a kind of loss is the first one
    /// added.
    void add(Loss loss, std::string_view table, std::int64_t row, std::uint64_t count = 1);
    /// Adds one sentence per kind of loss, and the totals.
    void report(CaptureStats& stats) const;

    std::vector<Error> damaged; ///< of tables that were only partly readable
    std::uint64_t lost = 0;     ///< events that the profiler reports as lost

private:
    struct Met {
        std::uint64_t count = 0;
        std::string table;
        std::int64_t row = 0;
    };
    std::array<Met, static_cast<std::size_t>(Loss::Count)> m_met;
};

} // namespace profiler::formats::nsys
