#include "profiler/analysis/job/step_waits.h"

#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace profiler::analysis {

namespace {

using Member = MatchedCollective::Member;

constexpr double kLeastShare = 0.1; ///< of the longest wait, see StepWait::waiting

const CollectiveCall& callOf(std::span<const RankDigest> ranks, Member member)
{
    return ranks[member.rank].communication.calls[member.call];
}

/// @param arrivals  durations of the members' parts with their ranks, ascending: the last rank to arrive first
StepWait waitOf(const MatchedCollective& collective, const std::vector<std::pair<Nanoseconds, std::uint32_t>>& arrivals)
{
    StepWait wait{.kind = collective.kind, .bytes = collective.bytes};
    wait.ranks = static_cast<std::int64_t>(arrivals.size());
    const auto& [transfer, last] = arrivals.front();
    wait.last = last;
    wait.lateUs = toUs(arrivals[1 + (arrivals.size() - 2) / 2].first - transfer); // the lower median
    wait.longestUs = toUs(arrivals.back().first - transfer);
    for (auto arrival = arrivals.rbegin(); arrival != arrivals.rend() - 1; ++arrival) {
        const double us = toUs(arrival->first - transfer);
        wait.waitUs += us;
        if (us >= kLeastShare * wait.longestUs && us > 0)
            wait.waiting.push_back(arrival->second);
    }
    return wait;
}

} // namespace

std::vector<StepWait> stepWaits(std::span<const RankDigest> ranks, const MatchedCollectives& matched, std::int64_t step)
{
    std::vector<StepWait> found;
    std::vector<std::pair<Nanoseconds, std::uint32_t>> arrivals;
    for (const MatchedCollective& collective : matched.all) {
        if (!waitsForAll(collective.kind))
            continue;
        const auto members = matched.of(collective);
        const auto shortest = std::ranges::min_element(
            members, {}, [&](Member member) { return callOf(ranks, member).range.duration(); });
        const CollectiveCall& last = callOf(ranks, *shortest);
        const RankDigest& rank = ranks[shortest->rank];
        if (last.step < 0 || rank.steps[static_cast<std::size_t>(last.step)].index != step)
            continue;
        arrivals.clear();
        for (const Member member : members)
            arrivals.emplace_back(callOf(ranks, member).range.duration(), member.rank);
        std::ranges::sort(arrivals);
        found.push_back(waitOf(collective, arrivals));
        found.back().group = rank.communication.groups[last.group].name;
    }
    std::ranges::stable_sort(found, std::greater(), &StepWait::waitUs);
    return found;
}

} // namespace profiler::analysis
