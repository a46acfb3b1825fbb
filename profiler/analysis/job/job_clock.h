#pragma once

#include "profiler/analysis/job/matched_collectives.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// One clock for the ranks of a job. Ranks of different hosts start from CLOCK_REALTIME, which differs between hosts by
/// milliseconds or more; ranks that leave a collective together show by how much.
namespace profiler::analysis {

/// A moment at which a rank's clock was set while it recorded.
struct ClockStep {
    TraceTime at{};   ///< by the rank's clock
    Nanoseconds by{}; ///< positive: the clock jumped forwards
};

struct RankClock {
    Nanoseconds toJob{};      ///< added to the rank's times
    Nanoseconds correction{}; ///< the part of it that collectives add to CLOCK_REALTIME
    /// Median deviation of the ends of its collectives from those of the other ranks, after the correction.
    Nanoseconds error{};
    double driftPpm = 0; ///< its clock runs faster than the others by this much; not corrected below 20 µs in total
    std::vector<ClockStep> steps{};
    bool refined = false; ///< collectives connect it with other ranks

    /// The job's time of a time by the rank's clock.
    [[nodiscard]] TraceTime operator()(TraceTime time) const;
    TraceTime driftFrom{}; ///< the drift is counted from here
};

struct JobClock {
    std::vector<RankClock> ranks; ///< parallel to the digests
    bool refined = false;         ///< by collectives; otherwise CLOCK_REALTIME alone
    Nanoseconds error{};          ///< the largest of the ranks' errors; without refinement: unknown, 0
};

/// Aligns the clocks. The ends of a collective that waits for all ranks are the same moment; each rank's offset is the
/// median difference to a neighbour, along the most exact differences (a shortest path from rank to rank). Most ranks
/// keep their CLOCK_REALTIME: what is added is relative to the median rank. Collectives of unknown groups are divided
/// on the way.
/// O(n log n) in calls.
JobClock alignClocks(std::span<const RankDigest> ranks, MatchedCollectives& matched);

} // namespace profiler::analysis
