#pragma once

#include "profiler/model/trace.h"

#include <array>
#include <cstdint>

namespace profiler::formats::json {

/// Defects of events in a file.
enum class Loss : std::uint8_t {
    Malformed,       ///< dropped: syntax error
    NoObject,        ///< dropped: an array element that is not an event
    TooDeep,         ///< dropped
    TooLong,         ///< dropped
    NoTime,          ///< dropped
    HugeTime,        ///< dropped
    OtherPhase,      ///< dropped: an event type (ph) that is not shown
    EndWithoutBegin, ///< dropped
    BeginWithoutEnd,
    EndOfOther, ///< an end whose name matches no open range
    EndsCrossed,
    EndArgs, ///< an end with arguments of its own
    NoDuration,
    HugeDuration,
    NegativeDuration,
    FlowWithoutEnd,
    FlowWithoutRow,
    NotANumber,
    ControlText,
    BadEscape,
    BadUtf8,
    BadNumber,
    NoComma,
    BadArgs,
    NoNumber,
    Overlapping,
    NoLaunch,
    SharedCorrelation, ///< a call with the id of another call of its process
    Count,
};

/// For each kind of loss, the number of events and the byte of the first one.
class Losses {
public:
    void add(Loss loss, std::uint64_t first, std::uint64_t count = 1)
    {
        Row& row = m_rows[static_cast<std::size_t>(loss)];
        if (count > 0 && (row.count == 0 || first < row.first))
            row.first = first;
        row.count += count;
    }
    void add(const Losses& other);
    [[nodiscard]] std::uint64_t count(Loss loss) const { return m_rows[static_cast<std::size_t>(loss)].count; }
    /// Number of events of which nothing could be read.
    [[nodiscard]] std::uint64_t unreadable() const
    {
        return count(Loss::Malformed) + count(Loss::NoObject) + count(Loss::TooDeep) + count(Loss::TooLong);
    }
    /// Adds one sentence per kind of loss, and the totals.
    void report(CaptureStats& stats) const;

private:
    struct Row {
        std::uint64_t count = 0, first = 0;
    };
    std::array<Row, static_cast<std::size_t>(Loss::Count)> m_rows{};
};

} // namespace profiler::formats::json
