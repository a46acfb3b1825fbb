#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/replay.h"

#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// The chain of work that decided how long the trace took: whatever is not on it may take longer for free, and only
/// what is on it is worth shortening.
struct CriticalPath {
    struct Piece {
        TimeRange range;
        ReplayWork::Where where{};
        bool latency = false; ///< between a cause and its effect: launching, waking up
    };
    struct Share {
        std::string name; ///< of the innermost slice; empty: no slice covers it
        ReplayWork::Where where{};
        Nanoseconds time{};
        Nanoseconds longestTime{}; ///< of one piece
        SliceId longest;           ///< its slice; meaningless where `name` is empty
    };
    std::vector<Piece> pieces; ///< in time, without gaps but for what was left out
    std::vector<Share> byName; ///< largest first, latencies left out
    Nanoseconds host{}, loader{}, device{}, latency{};

    [[nodiscard]] Nanoseconds total() const { return host + loader + device + latency; }
};

/// It ends with the last work of the host or a device: what workers load beyond that nobody waits for.
/// @param within  only what lies in here; empty: all
/// @param stop    asked now and then; what is returned then means nothing
CriticalPath criticalPath(const Trace& trace, const ReplayGraph& graph, const Intervals& within = {},
                          const std::stop_token& stop = {});

} // namespace profiler::analysis
