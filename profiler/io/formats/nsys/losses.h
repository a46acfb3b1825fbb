#pragma once

#include "profiler/model/capture_stats.h"
#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::nsys {

/// What was wrong with rows of an export.
enum class Loss : std::uint8_t {
    NoLaunch,
    NoTime,  ///< dropped
    FarTime, ///< dropped: out of the TimeWindow
    NoPlace, ///< dropped: a device or stream whose number cannot be
    NegativeTime,
    Backwards,
    Open,
    NoName, ///< an id that StringIds lacks
    NegativeBytes,
    SharedCall, ///< a correlation id that another call of the process has
    Doubled,    ///< device work that is there before
    Overlapping,
    Count,
};

/// How many rows each loss met, and the first of them; and what is told beside.
class Losses {
public:
    /// Counts rows of a table, `row` the first of them. The first that is told of a loss is the first that came.
    void add(Loss loss, std::string_view table, std::int64_t row, std::uint64_t count = 1);
    /// A sentence each, and the sums.
    void report(CaptureStats& stats) const;

    std::vector<Error> damaged; ///< of tables that could be read in part
    std::uint64_t lost = 0;     ///< events that the profiler says it lost

private:
    struct Met {
        std::uint64_t count = 0;
        std::string table;
        std::int64_t row = 0;
    };
    std::array<Met, static_cast<std::size_t>(Loss::Count)> m_met;
};

} // namespace profiler::formats::nsys
