// The assembly stage: builds the trace from what the scanning threads yield, part after part, and adds what is known
// only after the whole file was scanned: names of tracks, flows, counters, devices and versions.
#pragma once

#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/model/radix_sort.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace profiler::formats::json {

/// A process as the rows show it.
struct Process {
    std::int64_t pid = 0;
    std::string name;
    std::int32_t sortIndex = 0;
};
using Processes = std::map<ProcessKey, Process>;

/// The values of the trace's outermost object: raw JSON by key.
using TopLevelValues = std::map<std::string, std::string>;

/// Used by the committing thread only.
class Assembly {
public:
    /// @param gathered  keys of ranges that are joined after all ends were read; may be null
    Assembly(SharedBuild& shared, std::shared_ptr<const RangeKeys> gathered)
        : m_shared(shared), m_ranges(std::move(gathered))
    {
    }

    /// Adds the next part of the file.
    void add(ScanResult&& part);
    /// Names the tracks, as far as their names are known.
    /// @param losses  receives defects of the metadata events
    /// @return the processes of all rows, including the rows of counters
    Processes nameTracks(Losses& losses);
    /// Called after the last part.
    void finish(const TopLevelValues& values);
    /// Counts overlapping slices in rows that must not have any: those of threads and streams. Called after sealing.
    void countOverlaps();

    /// The combined contents of the parts, except rows, range ends and samples.
    [[nodiscard]] const ScanResult& whole() const { return m_whole; }
    /// Keys of ranges whose ends are in an order that requires a second read.
    [[nodiscard]] const RangeKeys& unordered() const { return m_ranges.unordered(); }

private:
    /// The samples of a counter, which becomes a track when its first sample arrives.
    struct Series {
        std::optional<TrackId> track;
        std::vector<CounterSample> samples; ///< samples of the current part
        bool isBytes = false;
    };
    using SeriesKey = std::tuple<std::uint32_t, std::uint32_t, bool>; ///< row, name, whether the samples are changes
    /// Correlation ids of calls and the file offsets of their events, by interface: a runtime call and the driver call
    /// inside it may share an id.
    using Calls = std::array<std::vector<SortKey>, 2>;

    void addRows(ScanResult& part);
    void addCalls(const RowSlices& row);
    void addSamples(const std::vector<Sample>& samples);
    void addFlows();
    void nameCounters(const Processes& processes, const TopLevelValues& values);
    void checkLaunches();
    void addLiveBlocks();
    void addMetadata(const TopLevelValues& values);

    SharedBuild& m_shared;
    RangeJoining m_ranges;
    ScanResult m_whole;
    std::map<SeriesKey, Series> m_series;
    std::map<std::uint32_t, Calls> m_calls; ///< by row
    std::vector<SortKey> m_work;            ///< correlation ids of device work
    std::vector<ThreadIds> m_threads;       ///< by row; set by nameTracks()
};

/// Removes notes about the original trace that also apply to this copy.
void dropDuplicateNotes(std::vector<Message>& notes);

} // namespace profiler::formats::json
