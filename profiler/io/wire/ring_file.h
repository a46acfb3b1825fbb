#pragma once

#include "profiler/io/wire/records.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace profiler::wire {

/// What the ring file of a killed run still holds that is not in its trace file.
struct RecoveredEvents {
    struct Lane {
        TrackEntry track{};
        std::uint64_t firstIndex = 0; ///< running index of events[0] (see EventBatch): drop what the file has already
        std::vector<EventRecord> events; ///< not yet known to be in the file, in order
    };
    std::vector<TrackEntry> tracks; ///< all tracks that the run made, counters and streams too
    std::vector<std::pair<std::uint32_t, std::string>> strings; ///< all ids that the run interned
    std::vector<Lane> lanes;
    std::uint64_t dropped = 0, unmatched = 0; ///< totals of the run, as LossEntry has them
    std::uint32_t damaged = 0; ///< lanes, tracks and strings that could not be read, wholly or from some point on
};

/// Path of the ring file that belongs to a trace file.
std::filesystem::path ringPath(const std::filesystem::path& trace);

/// Reads the leftovers of a run that did not end well. NotFound when there is no ring file or it is another run's.
Result<RecoveredEvents> recoverRing(const std::filesystem::path& trace, std::uint64_t runId);

} // namespace profiler::wire
