#pragma once

#include "profiler/formats/container/records.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace profiler::wire {

/// The events in the ring file of a killed run that are not in its trace file.
struct RecoveredEvents {
    struct Lane {
        TrackEntry track{};
        std::uint64_t firstIndex = 0;    ///< running index of events[0] (see EventBatch): skip what the file has
        std::vector<EventRecord> events; ///< in order; possibly not in the file yet
    };
    std::vector<TrackEntry> tracks; ///< all tracks of the run, including counters and streams
    std::vector<std::pair<std::uint32_t, std::string>> strings; ///< all interned strings of the run
    std::vector<Lane> lanes;
    std::uint64_t dropped = 0, unmatched = 0; ///< totals of the run, as in LossEntry
    std::uint32_t damaged = 0;                ///< thread buffers, tracks and strings that could not be read completely
};

/// Path of the ring file that belongs to a trace file.
std::filesystem::path ringPath(const std::filesystem::path& trace);

/// Reads the recovered events of a run that did not end properly. NotFound if there is no ring file or it belongs to
/// another run.
Result<RecoveredEvents> recoverRing(const std::filesystem::path& trace, std::uint64_t runId);

} // namespace profiler::wire
