#pragma once

#include "profiler/io/wire/records.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace profiler::wire {

/// What the ring file of a killed run still holds that is not in its trace file.
struct RingLeftovers {
    struct Lane {
        TrackEntry track{};
        std::vector<EventRecord> events; ///< not yet drained, in order
    };
    std::vector<std::pair<std::uint32_t, std::string>> strings; ///< all ids that the run interned
    std::vector<Lane> lanes;
    std::uint64_t dropped = 0;
};

/// Path of the ring file that belongs to a trace file.
std::filesystem::path ringPath(const std::filesystem::path& trace);

/// Reads the leftovers of a run that did not end well. NotFound when there is no ring file or it is another run's.
Result<RingLeftovers> recoverRing(const std::filesystem::path& trace, std::uint64_t runId);

} // namespace profiler::wire
