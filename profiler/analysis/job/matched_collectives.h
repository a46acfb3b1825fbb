#pragma once

#include "profiler/analysis/job/rank_digest.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The collectives of a job, matched from the calls of its ranks, and who waits for whom in them.
namespace profiler::analysis {

/// The calls of several ranks that are one collective.
struct MatchedCollective {
    struct Member {
        std::uint32_t rank = 0; ///< index into the ranks
        std::uint32_t call = 0; ///< index into the rank's calls
    };
    std::size_t first = 0; ///< its members start here, see MatchedCollectives::members
    std::uint32_t count = 0;
    CollectiveKind kind = CollectiveKind::Other;
    std::int64_t size = 0;   ///< ranks of the group, if recorded
    std::int64_t bytes = 0;  ///< largest payload of a rank
    std::uint64_t group = 0; ///< CollectiveGroup::key; 0: unknown
};

/// Collectives of a job: at least two ranks each.
struct MatchedCollectives {
    std::vector<MatchedCollective> all; ///< those of a group in the order of its ranks' calls
    std::vector<MatchedCollective::Member> members;
    std::int64_t alone = 0; ///< calls without a counterpart: the other ranks are missing or recorded another window
    std::int64_t mismatched = 0; ///< calls with the number of a collective but another size

    [[nodiscard]] std::span<const MatchedCollective::Member> of(const MatchedCollective& collective) const
    {
        return std::span(members).subspan(collective.first, collective.count);
    }
};

/// Matches calls of the same group with the same sequence number. Without recorded numbers, calls of the same kind are
/// counted within each step or, without steps, from the start of the trace. Point-to-point calls are left out.
/// O(n log n) in calls, whatever the number of ranks.
MatchedCollectives matchCollectives(std::span<const RankDigest> ranks);

/// Divides collectives of unknown groups, whose members may belong to several groups that work side by side, by their
/// ends: ranks of one collective leave it together, within a tenth of the shortest call and 20 µs.
/// @param toJob  by rank: added to the rank's times
/// @param tolerance  error of these
void divideUnknownGroups(std::span<const RankDigest> ranks, std::span<const Nanoseconds> toJob, Nanoseconds tolerance,
                         MatchedCollectives& matched);

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
