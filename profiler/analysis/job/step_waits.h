#pragma once

#include "profiler/analysis/job/matched_collectives.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Who waits for whom in a step.
namespace profiler::analysis {

/// A collective in which ranks waited for the one that arrived last.
struct StepWait {
    CollectiveKind kind = CollectiveKind::Other;
    std::string group{};    ///< name of the communicator; may be empty
    std::int64_t ranks = 0; ///< that took part and are recorded
    std::int64_t bytes = 0; ///< largest payload of a rank; 0: not recorded
    std::size_t last = 0;   ///< index of the rank that arrived last
    double lateUs = 0;      ///< arrival of the last rank after the median of the others
    double waitUs = 0;      ///< sum over all ranks
    double longestUs = 0;   ///< wait of the rank that arrived first
    /// Indices of the ranks that waited at least a tenth of the longest wait, the longest first. The others arrived
    /// with the last rank: ranks do not leave a collective at exactly the same time.
    std::vector<std::size_t> waiting{};
};

/// The collectives of a step that wait for all ranks of their group, the longest waits first. Ranks leave a collective
/// together, so the last one to arrive takes part for the shortest time, and this needs no common clock.
/// O(members of all collectives).
/// @param matched  of these ranks
/// @param step     number of the step
std::vector<StepWait> stepWaits(std::span<const RankDigest> ranks, const MatchedCollectives& matched,
                                std::int64_t step);

} // namespace profiler::analysis
