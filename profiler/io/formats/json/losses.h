#pragma once

#include "profiler/model/capture_stats.h"

#include <array>
#include <cstdint>

namespace profiler::formats::json {

/// What was wrong with events of a file.
enum class Loss : std::uint8_t {
    Malformed,       ///< dropped: breaks the grammar
    TooLong,         ///< dropped
    NoTime,          ///< dropped
    HugeTime,        ///< dropped
    OtherPhase,      ///< dropped: a phase that is not shown
    EndWithoutBegin, ///< dropped
    BeginWithoutEnd,
    NoDuration,
    NegativeDuration,
    FlowWithoutEnd,
    NotANumber,
    ControlText,
    BadEscape,
    BadUtf8,
    BadNumber,
    NoComma,
    BadArgs,
    Overlapping,
    NoLaunch,
    Count,
};

/// How many events each loss met, and the byte of the first.
class Losses {
public:
    void add(Loss loss, std::uint64_t offset)
    {
        Row& row = m_rows[static_cast<std::size_t>(loss)];
        if (row.count++ == 0 || offset < row.first)
            row.first = offset;
    }
    void add(const Losses& other);
    [[nodiscard]] std::uint64_t count(Loss loss) const { return m_rows[static_cast<std::size_t>(loss)].count; }
    /// A sentence each, and the sums.
    void report(CaptureStats& stats) const;

private:
    struct Row {
        std::uint64_t count = 0, first = 0;
    };
    std::array<Row, static_cast<std::size_t>(Loss::Count)> m_rows{};
};

} // namespace profiler::formats::json
