#pragma once

#include "profiler/analysis/job/rank_digest.h"

#include <cstdint>
#include <span>
#include <vector>

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

} // namespace profiler::analysis
