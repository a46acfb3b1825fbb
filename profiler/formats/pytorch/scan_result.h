// What scanning a part of a file yields: slices by row, range ends, flows, samples, metadata and losses. The scanning
// threads create it; the committing thread assembles the trace from it, part after part.
#pragma once

#include "profiler/formats/pytorch/event.h"
#include "profiler/formats/pytorch/live_blocks.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

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

/// The number of a process in the file, or the hash of its text (the bool tells which).
using ProcessKey = std::pair<std::int64_t, bool>;

/// The identity of a row. A text is represented by its hash.
struct RowKey {
    std::int64_t process = 0, thread = 0;  ///< thread of a device row: only ids made up by our writer
    std::int64_t device = -1, stream = -1; ///< device rows only
    RowKind kind = RowKind::Host;
    bool processIsText = false, threadIsText = false;
    std::uint8_t category = 0; ///< rows of asynchronous events: index of their category + 1
    [[nodiscard]] ProcessKey processKey() const { return {process, processIsText}; }
    friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

/// What is known about a row before the metadata events are evaluated.
struct RowInfo {
    RowKey key;
    std::string processText, threadText;  ///< if they are not numbers
    std::optional<TrackId> track;         ///< set once the row has a slice
    std::optional<std::int64_t> device{}; ///< overrides the key's device if processes share device numbers
};

/// The start or end of a range that consists of two events (B and E, b and e).
struct RangeEnd {
    std::uint64_t key = 0;   ///< identifies the ranges that are joined: a thread, or an asynchronous id
    std::uint32_t rowId = 0; ///< row of the start
    bool begins = false;
    bool named = false; ///< the event has a name; ends may omit it
    RawSlice slice;     ///< for an end: `begin` is the time, the duration is 0
};

/// The starts and ends of one key in a part of the file.
struct RangeGroup {
    std::uint64_t key = 0;
    std::int64_t first = 0, last = 0; ///< earliest and latest time
    std::uint32_t begin = 0;          ///< index into ScanResult::rangeEnds
    std::uint32_t count = 0;          ///< number of entries there, sorted by time, that the part could not join alone
};

/// Keys whose range ends are not in time order in the file.
using RangeKeys = std::unordered_set<std::uint64_t>;

/// A counter sample: an allocator's state, or an event of phase C.
struct Sample {
    std::uint32_t name = 0;  ///< StringId of the counter's name
    std::uint32_t rowId = 0; ///< represents the process
    CounterSample sample;
    bool isChange = false; ///< an increment; the counter is the running sum
    bool isBytes = false;
};

/// How a file is read. The first read may find that a second one with other options is necessary.
struct PassOptions {
    bool keepLaunchFlows = false; ///< keep flows from launches to device work, because correlation ids are missing
    std::shared_ptr<const RangeKeys> gathered; ///< keys of ranges that are joined after all ends were read; null: none
};

/// A point of a flow.
struct FlowPoint {
    char phase = 's';    ///< s (start), t (step), f (end)
    bool ofNext = false; ///< binds to the next slice of its row instead of the enclosing one
    std::uint8_t category = 0;
    std::uint64_t id = 0;
    std::uint32_t rowId = 0;
    std::int64_t time = 0; ///< ns
    std::uint64_t offset = 0;
};

/// A metadata event. It is stored whole, because there are few.
struct MetaEvent {
    RowKey key;             ///< with RowKind::Host
    std::string name, args; ///< args: raw JSON
    std::uint64_t offset = 0;
};

/// Slices of one row.
struct RowSlices {
    std::uint32_t rowId = 0;
    std::vector<RawSlice> slices;
};

/// The content of a part of the file.
struct ScanResult {
    std::vector<RowSlices> rows;
    std::vector<RangeEnd> rangeEnds; ///< grouped by RangeGroup
    std::vector<RangeGroup> rangeGroups;
    std::vector<FlowPoint> flows;
    std::vector<Sample> samples;
    std::vector<Allocation> allocations;
    std::vector<MetaEvent> metadata;
    std::vector<bool> stepRows, opRows, callRows; ///< by row id: has steps, operators, calls with a correlation id
    Losses losses;
    std::uint64_t events = 0;
    std::uint64_t deviceWork = 0;
    std::uint64_t uncorrelated = 0;                                 ///< device work without a correlation id
    std::uint64_t launchFlows = 0;                                  ///< flow events that repeat correlation ids
    std::uint64_t markedOps = 0;                                    ///< operator events that mark steps
    std::int64_t latest = std::numeric_limits<std::int64_t>::min(); ///< end of the last slice or range, ns
};

/// Appends what a later part of the file holds, except its rows, range ends and samples.
void append(ScanResult& whole, ScanResult&& part);

} // namespace profiler::formats::json
