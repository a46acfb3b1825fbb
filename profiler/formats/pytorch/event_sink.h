#pragma once

#include "profiler/formats/pytorch/counters.h"
#include "profiler/formats/pytorch/losses.h"
#include "profiler/formats/pytorch/ranges.h"
#include "profiler/formats/pytorch/shared_build.h"

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace profiler::formats::json {

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

/// The content of a part of the file.
struct ScanResult {
    struct Rows {
        std::uint32_t rowId = 0;
        std::vector<RawSlice> slices;
    };
    std::vector<Rows> rows;
    std::vector<RangeEnd> rangeEnds; ///< grouped by RangeGroup
    std::vector<RangeGroup> rangeGroups;
    std::vector<FlowPoint> flows;
    std::vector<Sample> samples;
    std::vector<MetaEvent> metadata;
    std::vector<bool> stepRows, opRows, callRows; ///< by row id: has steps, operators, calls with a correlation id
    Losses losses;
    std::uint64_t events = 0;
    std::uint64_t deviceWork = 0;
    std::uint64_t uncorrelated = 0;                                 ///< device work without a correlation id
    std::uint64_t launchFlows = 0;                                  ///< flow events that repeat correlation ids
    std::uint64_t markedOps = 0;                                    ///< operator events that mark steps
    std::uint64_t sequences = 0;                                    ///< operators with a sequence number
    std::int64_t latest = std::numeric_limits<std::int64_t>::min(); ///< end of the last slice or range, ns
};

/// Turns events into slices. Each scanning thread has its own instance.
class EventSink {
public:
    EventSink(SharedBuild& shared, const PassOptions& passOptions);

    /// Directs all following events into `result`, until end().
    void begin(ScanResult& result);
    void end();
    /// Declares that the byte at `window` is byte `offset` of the file.
    void setWindow(const char* window, std::uint64_t offset);

    /// Receives the events in file order.
    void take(const Event& event);
    /// The StringId of an array of sizes or types.
    /// @param json  valid JSON
    std::uint32_t intern(std::string_view json);

private:
    struct CachedRow {
        RowKey key;
        std::uint32_t rowId = 0;
        bool known = false;
    };
    struct CachedArgs {
        SliceArgs args;
        std::uint32_t id = 0;
        bool known = false;
    };

    [[nodiscard]] std::uint64_t offsetOf(const Event& event) const;
    void countOddities(const Event& event);
    bool hasTime(const Event& event);
    void takeWhole(const Event& event);
    void takeInstant(const Event& event);
    void takeRangeEnd(const Event& event);
    void takeFlow(const Event& event);
    void takeCounter(const Event& event);
    void takeMemory(const Event& event);
    void takeMetadata(const Event& event);
    RawSlice makeSlice(const Event& event, const Name& name, RowKind& rowKind);
    std::uint32_t argsOf(const Event& event, const Name& name, ActivityKind kind, RowKind rowKind);
    std::uint32_t cached(const SliceArgs& args);
    std::uint32_t keptForPart(const LaunchConfig& launch, const SliceArgs& args);
    void replaceLaunchArgs();
    std::uint32_t rowIdOf(const RowKey& key, const Event& event);
    std::uint32_t processRow(const Event& event);
    std::vector<RawSlice>& slicesOf(std::uint32_t rowId);
    static void mark(std::vector<bool>& rows, std::uint32_t rowId);
    void markRow(const RawSlice& slice, std::uint32_t rowId);
    void takeBinding(const Event& event, std::uint32_t rowId);

    SharedBuild& m_shared;
    Names m_names;
    bool m_keepLaunchFlows;
    PartRanges m_ranges;
    CounterArgs m_counterArgs;
    ScanResult* m_result = nullptr;
    const char* m_window = nullptr;
    std::uint64_t m_windowOffset = 0;
    std::array<CachedRow, 64> m_cachedRows{};
    std::vector<CachedArgs> m_args;
    std::vector<LaunchedArgs> m_launched;         ///< of the part
    std::vector<std::uint32_t> m_launchedPlaces; ///< by hash: index into m_launched + 1 of one that may be equal
    std::uint32_t m_noArgs;
    std::vector<std::uint32_t> m_rowOf;  ///< by row id: index into the result's rows + 1
    std::vector<std::size_t> m_expected; ///< by row id: number of slices in the last result
};

} // namespace profiler::formats::json
