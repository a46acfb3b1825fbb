#include "profiler/analysis/job/matched_collectives.h"

#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace profiler::analysis {

namespace {

using Member = MatchedCollective::Member;

/// What the calls of one collective have in common.
struct CallKey {
    std::uint64_t group = 0;
    std::int64_t kind = 0; ///< without recorded sequence numbers; numbers count all kinds together
    std::int64_t step = 0; ///< number of the step; 0 with a recorded sequence number
    std::int64_t number = 0;
    friend auto operator<=>(const CallKey&, const CallKey&) = default;
};

struct KeyedCall {
    CallKey key;
    Member member;
};

void addKeys(const RankDigest& rank, std::uint32_t index, std::vector<KeyedCall>& keyed)
{
    constexpr std::int64_t kNumbered = -1;
    std::map<std::tuple<std::uint32_t, CollectiveKind, std::int32_t>, std::int64_t> counts;
    const std::vector<CollectiveCall>& calls = rank.communication.calls;
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
        const CollectiveCall& call = calls[i];
        if (call.kind == CollectiveKind::SendRecv || call.kind == CollectiveKind::Other)
            continue;
        CallKey key{.group = rank.communication.groups[call.group].key};
        if (call.sequence >= 0) {
            key.kind = kNumbered;
            key.number = call.sequence;
        } else {
            if (rank.hasSteps && call.step < 0)
                continue; // its number within a step is unknown
            key.kind = static_cast<std::int64_t>(call.kind);
            key.step = call.step >= 0 ? rank.steps[static_cast<std::size_t>(call.step)].index : 0;
            key.number = counts[{call.group, call.kind, call.step}]++;
        }
        keyed.push_back({key, {index, i}});
    }
}

const CollectiveCall& callOf(std::span<const RankDigest> ranks, Member member)
{
    return ranks[member.rank].communication.calls[member.call];
}

/// Collects the members of one collective.
class Matching {
public:
    Matching(std::span<const RankDigest> ranks, MatchedCollectives& found) : m_ranks(ranks), m_found(found) {}

    void take(std::span<const KeyedCall> calls)
    {
        MatchedCollective collective{.first = m_found.members.size()};
        const std::int64_t bytes = commonBytes(calls);
        std::int64_t before = -1;
        for (const KeyedCall& one : calls) {
            const CollectiveCall& call = callOf(m_ranks, one.member);
            if (one.member.rank == before)
                continue; // a damaged trace may contain a number twice
            before = one.member.rank;
            if (hasOneSize(call.kind) && call.bytes != bytes) {
                ++m_found.mismatched;
                continue;
            }
            const CollectiveGroup& group = m_ranks[one.member.rank].communication.groups[call.group];
            collective.kind = call.kind;
            collective.group = group.key;
            collective.size = std::max(collective.size, group.size);
            collective.bytes = std::max(collective.bytes, call.bytes);
            m_found.members.push_back(one.member);
        }
        collective.count = static_cast<std::uint32_t>(m_found.members.size() - collective.first);
        if (collective.count > 1) {
            m_found.all.push_back(collective);
            return;
        }
        m_found.alone += collective.count;
        m_found.members.resize(collective.first);
    }

private:
    static bool hasOneSize(CollectiveKind kind)
    {
        return kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce;
    }
    /// The size that most ranks record.
    [[nodiscard]] std::int64_t commonBytes(std::span<const KeyedCall> calls) const
    {
        if (std::ranges::all_of(calls, [&](const KeyedCall& one) {
                return callOf(m_ranks, one.member).bytes == callOf(m_ranks, calls.front().member).bytes;
            }))
            return callOf(m_ranks, calls.front().member).bytes;
        std::map<std::int64_t, std::size_t> counts;
        for (const KeyedCall& one : calls)
            ++counts[callOf(m_ranks, one.member).bytes];
        return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
    }

    std::span<const RankDigest> m_ranks;
    MatchedCollectives& m_found;
};

constexpr double kLeastShare = 0.1; ///< of the longest wait, see StepWait::waiting

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

MatchedCollectives matchCollectives(std::span<const RankDigest> ranks)
{
    std::vector<KeyedCall> keyed;
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        addKeys(ranks[i], i, keyed);
    std::ranges::sort(keyed, [](const KeyedCall& a, const KeyedCall& b) {
        return std::tie(a.key, a.member.rank) < std::tie(b.key, b.member.rank);
    });
    MatchedCollectives found;
    Matching matching(ranks, found);
    for (std::size_t first = 0; first < keyed.size();) {
        std::size_t next = first + 1;
        while (next < keyed.size() && keyed[next].key == keyed[first].key)
            ++next;
        matching.take(std::span(keyed).subspan(first, next - first));
        first = next;
    }
    return found;
}

void divideUnknownGroups(std::span<const RankDigest> ranks, std::span<const Nanoseconds> toJob, Nanoseconds tolerance,
                         MatchedCollectives& matched)
{
    constexpr Nanoseconds kTogether = std::chrono::microseconds(20);
    std::vector<MatchedCollective> divided;
    for (const MatchedCollective& collective : matched.all) {
        if (collective.group != 0) {
            divided.push_back(collective);
            continue;
        }
        const auto endOf = [&](Member member) { return callOf(ranks, member).range.end + toJob[member.rank]; };
        const auto members = std::span(matched.members).subspan(collective.first, collective.count);
        std::ranges::sort(members, {}, endOf);
        Nanoseconds apart = Nanoseconds::max();
        for (const Member member : members)
            apart = std::min(apart, callOf(ranks, member).range.duration() / 10);
        apart = std::max(apart, kTogether) + tolerance;
        MatchedCollective part = collective;
        part.count = 1;
        const auto finish = [&] {
            if (part.count > 1)
                divided.push_back(part);
            else
                ++matched.alone;
        };
        for (std::uint32_t i = 1; i < collective.count; ++i) {
            if (endOf(members[i]) - endOf(members[i - 1]) > apart) {
                finish();
                part.first = collective.first + i;
                part.count = 0;
            }
            ++part.count;
        }
        finish();
    }
    matched.all = std::move(divided);
}

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
