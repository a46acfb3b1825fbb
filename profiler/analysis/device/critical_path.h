#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/replay/replay.h"

#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// The chain of work that determined the length of the trace. Work outside the chain has slack; only shortening work on
/// the chain saves time.
struct CriticalPath {
    struct Piece {
        TimeRange range;
        ReplayWork::Where where{};
        bool latency = false; ///< between a cause and its effect, for example launch or wake-up latency
    };
    struct Share {
        std::string name; ///< of the innermost slice; empty if no slice covers the piece
        ReplayWork::Where where{};
        Nanoseconds time{};
        Nanoseconds longestTime{}; ///< duration of the longest piece
        SliceId longest;           ///< slice of the longest piece; meaningless if `name` is empty
    };
    std::vector<Piece> pieces; ///< in time order, contiguous except for omitted parts
    std::vector<Share> byName; ///< largest first, without latencies
    Nanoseconds host{}, loader{}, device{}, latency{};

    [[nodiscard]] Nanoseconds total() const { return host + loader + device + latency; }
};

/// The path ends with the last work of the host or a device; work that loader workers do after that does not count.
/// @param within  restricts the path to these times; empty: no restriction
/// @param stop    checked periodically; after a stop, the result is meaningless
CriticalPath criticalPath(const Trace& trace, const ReplayGraph& graph, const Intervals& within = {},
                          const std::stop_token& stop = {});

} // namespace profiler::analysis
