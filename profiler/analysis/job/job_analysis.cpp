#include "profiler/analysis/job/job_analysis.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/statistics.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace profiler::analysis {

namespace {

using Member = MatchedCollective::Member;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Transfers that take this many times as long as those of comparable groups.
constexpr double kSlowLink = 1.5;
// Share of the step that they cost at least.
constexpr double kLeastLinkShare = 0.03;
// Mean steps that differ by less count as equally long.
constexpr double kSlower = 1.01;
constexpr std::size_t kMostCollectives = 50;

class Analysing {
public:
    explicit Analysing(std::span<const RankDigest> ranks)
        : m_ranks(ranks), m_steps(jobSteps(ranks)), m_matched(matchCollectives(ranks))
    {
        m_found.ranks.resize(ranks.size());
        m_found.steps = m_steps.numbers;
    }

    JobAnalysis analyse()
    {
        m_found.clock = alignClocks(m_ranks, m_matched);
        addSteps();
        addCollectives();
        limitLateness();
        addExposed();
        finishRanks();
        m_found.stragglers = findStragglers(m_ranks, m_steps, m_lateness, slowLinks());
        findSlowest();
        listCollectives();
        listGroups();
        findGradients();
        findPipeline();
        findImbalance();
        addNotes();
        m_found.matched = static_cast<std::int64_t>(m_matched.all.size());
        m_found.alone = m_matched.alone;
        m_found.mismatched = m_matched.mismatched;
        m_found.calls = std::move(m_matched);
        return std::move(m_found);
    }

private:
    [[nodiscard]] const CollectiveCall& callOf(Member member) const
    {
        return m_ranks[member.rank].communication.calls[member.call];
    }
    /// The analysed step of a call; −1 if it is in none.
    [[nodiscard]] std::int32_t stepOf(std::size_t rank, const CollectiveCall& call) const
    {
        return call.step < 0 ? -1 : m_steps.at[rank][static_cast<std::size_t>(call.step)];
    }

    void addSteps()
    {
        const std::size_t steps = m_steps.count();
        m_lateness.assign(m_ranks.size(), std::vector<double>(steps, kNaN));
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            JobRank& rank = m_found.ranks[r];
            for (auto* values : {&rank.stepByStepUs, &rank.waitByStepUs, &rank.lateByStepUs, &rank.computeByStepUs})
                values->assign(steps, kNaN);
            for (std::size_t s = 0; s < steps; ++s)
                if (const std::int32_t own = m_steps.own[r][s]; own >= 0) {
                    const RankStep& step = m_ranks[r].steps[static_cast<std::size_t>(own)];
                    rank.stepByStepUs[s] = toUs(step.range.duration());
                    rank.computeByStepUs[s] = toUs(step.part(RankTimePart::Compute));
                    rank.waitByStepUs[s] = 0;
                    rank.exposedUs += toUs(step.part(RankTimePart::Communication));
                    rank.bubbleUs += toUs(step.bubble);
                }
        }
    }

    /// Transfer, waiting and lateness. Ranks leave a collective together, so a rank that arrives later by some time
    /// takes part for that much less: this needs no common clock.
    void addCollectives()
    {
        std::map<std::pair<std::size_t, std::uint64_t>, std::vector<double>> lateByGroup; // rank, group
        std::vector<std::pair<Nanoseconds, Member>> sorted;
        for (const MatchedCollective& collective : m_matched.all) {
            sorted.clear();
            for (const Member member : m_matched.of(collective))
                sorted.emplace_back(callOf(member).range.duration(), member);
            std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first; });
            const std::int32_t step = stepOf(sorted.front().second.rank, callOf(sorted.front().second));
            if (step < 0)
                continue;
            const auto at = static_cast<std::size_t>(step);
            const Nanoseconds transfer = sorted.front().first;
            Transfers& transfers =
                m_transfers[{collective.kind, sizeOf(collective), collective.bytes}][collective.group];
            transfers.us.push_back(static_cast<float>(toUs(transfer)));
            transfers.link = linkOf(m_matched.of(collective));
            for (std::size_t i = 0; i < sorted.size(); ++i) {
                const auto& [duration, member] = sorted[i];
                const double waitUs = toUs(duration - transfer);
                JobRank& rank = m_found.ranks[member.rank];
                rank.transferUs += toUs(transfer);
                rank.waitUs += waitUs;
                // Ranks leave a collective together, so its end is the transfer.
                rank.exposedWaitUs += std::max(0.0, toUs(callOf(member).exposed - transfer));
                rank.waitByStepUs[at] += waitUs; // NaN stays NaN
                transfers.waitUs += waitUs;
                ++transfers.members;
                m_groupTotals[collective.group].waitUs += waitUs;
                m_groupTotals[collective.group].transferUs += toUs(transfer);
                if (!waitsForAll(collective.kind))
                    continue;
                std::vector<double>& late = lateByGroup[{member.rank, collective.group}];
                late.resize(m_steps.count(), 0);
                late[at] += toUs(sorted[othersMiddle(i, sorted.size())].first - duration);
                m_anyLate[member.rank].insert(at);
            }
        }
        for (const auto& [key, late] : lateByGroup)
            for (std::size_t s = 0; s < late.size(); ++s) {
                double& known = m_lateness[key.first][s];
                if (m_anyLate[key.first].contains(s))
                    known = std::isfinite(known) ? std::max(known, late[s]) : late[s];
            }
    }

    [[nodiscard]] LinkKind linkOf(std::span<const Member> members) const
    {
        const std::string& host = m_ranks[members.front().rank].host;
        bool isKnown = true;
        for (const Member member : members) {
            const std::string& other = m_ranks[member.rank].host;
            isKnown = isKnown && !other.empty();
            if (isKnown && other != host)
                return LinkKind::BetweenHosts;
        }
        return isKnown ? LinkKind::WithinHost : LinkKind::Unknown;
    }

    /// A rank delays the others by no more than the time that it spends beyond them on anything but communication.
    /// Without this limit, a rank that waits in one group would count as late in another, and a delay would count again
    /// at each of several collectives that are queued behind each other.
    void limitLateness()
    {
        std::vector<std::pair<double, std::size_t>> own;
        for (std::size_t s = 0; s < m_steps.count(); ++s) {
            own.clear();
            for (std::size_t r = 0; r < m_ranks.size(); ++r)
                if (const std::int32_t step = m_steps.own[r][s]; step >= 0) {
                    const RankStep& one = m_ranks[r].steps[static_cast<std::size_t>(step)];
                    own.emplace_back(toUs(one.range.duration() - one.part(RankTimePart::Communication)), r);
                }
            if (own.size() < 2)
                continue;
            std::ranges::sort(own);
            for (std::size_t i = 0; i < own.size(); ++i) {
                // The lower median of the others, as for the parts of a rank's time.
                const std::size_t position = (own.size() - 2) / 2;
                const double others = own[position < i ? position : position + 1].first;
                double& late = m_lateness[own[i].second][s];
                late = std::min(late, own[i].first - others); // NaN stays NaN
            }
        }
    }

    /// Position of the upper median among all but one of `count` sorted values.
    static std::size_t othersMiddle(std::size_t without, std::size_t count)
    {
        const std::size_t position = (count - 1) / 2;
        return position < without ? position : position + 1;
    }

    [[nodiscard]] static std::int64_t sizeOf(const MatchedCollective& collective)
    {
        return std::max<std::int64_t>(collective.size, collective.count);
    }

    /// Exposed communication by group, and the share that is hidden.
    void addExposed()
    {
        double all = 0, exposed = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            const RankCollectives& communication = m_ranks[r].communication;
            for (const CollectiveCall& call : communication.calls) {
                if (stepOf(r, call) < 0)
                    continue;
                all += toUs(call.range.duration());
                exposed += toUs(call.exposed);
                if (call.kind == CollectiveKind::SendRecv)
                    m_found.ranks[r].exposedWaitUs += toUs(call.exposed);
                const CollectiveGroup& group = communication.groups[call.group];
                GroupTotal& total = m_groupTotals[group.key];
                total.exposedUs += toUs(call.exposed);
                ++total.calls;
                ++total.kinds[static_cast<std::size_t>(call.kind)];
                total.members.insert(m_ranks[r].rank);
                if (total.group.size < group.size || total.group.ranks.empty())
                    total.group = group;
            }
        }
        m_found.overlap = all > 0 ? 1 - exposed / all : 0;
    }

    void finishRanks()
    {
        double efficiency = 0, counted = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            JobRank& rank = m_found.ranks[r];
            double steps = 0, lateSteps = 0;
            for (std::size_t s = 0; s < m_steps.count(); ++s) {
                if (m_steps.own[r][s] < 0)
                    continue;
                ++steps;
                rank.stepUs += rank.stepByStepUs[s];
                rank.lateByStepUs[s] = m_lateness[r][s];
                if (std::isfinite(m_lateness[r][s])) {
                    rank.lateUs += m_lateness[r][s];
                    ++lateSteps;
                }
            }
            if (steps == 0)
                continue;
            for (double* value :
                 {&rank.stepUs, &rank.exposedUs, &rank.exposedWaitUs, &rank.waitUs, &rank.transferUs, &rank.bubbleUs})
                *value /= steps;
            rank.exposedWaitUs = std::min(rank.exposedWaitUs, rank.exposedUs); // calls may overlap each other
            rank.lateUs = lateSteps > 0 ? rank.lateUs / lateSteps : 0;
            m_found.stepUs = std::max(m_found.stepUs, rank.stepUs);
            efficiency += rank.stepUs > 0 ? 1 - std::min(1.0, rank.exposedUs / rank.stepUs) : 1;
            ++counted;
        }
        m_found.efficiency = counted > 0 ? efficiency / counted : 0;
    }

    void findSlowest()
    {
        if (m_steps.count() == 0 || m_ranks.empty())
            return;
        if (!m_found.stragglers.empty()) {
            m_found.slowest = m_found.stragglers.front().rank;
            return;
        }
        const auto longest = std::ranges::max_element(m_found.ranks, {}, &JobRank::stepUs);
        const auto latest = std::ranges::max_element(m_found.ranks, {}, &JobRank::lateUs);
        const bool clearly = std::ranges::all_of(m_found.ranks, [&](const JobRank& rank) {
            return &rank == &*longest || longest->stepUs > kSlower * rank.stepUs;
        });
        m_found.slowest = static_cast<std::size_t>((clearly ? longest : latest) - m_found.ranks.begin());
    }

    /// Ranks whose groups transfer more slowly than comparable ones. A rank that is also in a fast group is not the
    /// reason.
    std::vector<SlowLink> slowLinks()
    {
        struct Link {
            double us = 0, usualUs = 0; ///< per step
            [[nodiscard]] bool isSlow() const { return us >= kSlowLink * usualUs; }
        };
        std::map<std::uint64_t, Link> groups;
        for (const auto& [key, byGroup] : m_transfers) {
            if (byGroup.size() < 2 || byGroup.contains(0))
                continue;
            std::vector<double> medians;
            for (const auto& [group, transfers] : byGroup)
                medians.push_back(middle({transfers.us.begin(), transfers.us.end()}));
            const double usual = middle(medians);
            std::size_t i = 0;
            for (const auto& [group, transfers] : byGroup) {
                Link& link = groups[group];
                const double calls = static_cast<double>(transfers.us.size()) / static_cast<double>(m_steps.count());
                link.us += medians[i++] * calls;
                link.usualUs += usual * calls;
            }
        }
        std::vector<SlowLink> found;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            SlowLink link{.rank = r};
            double us = 0, usualUs = 0;
            bool isFast = false;
            for (const CollectiveGroup& group : m_ranks[r].communication.groups) {
                const auto known = groups.find(group.key);
                if (known == groups.end())
                    continue;
                isFast = isFast || !known->second.isSlow();
                us += known->second.us;
                usualUs += known->second.usualUs;
            }
            link.excessUs = us - usualUs;
            link.ratio = usualUs > 0 ? us / usualUs : 0;
            if (!isFast && usualUs > 0 && link.excessUs >= kLeastLinkShare * m_found.stepUs)
                found.push_back(link);
        }
        // A slow group alone does not show which of its ranks has the slow link.
        std::set<std::string> hosts;
        for (const SlowLink& link : found)
            hosts.insert(m_ranks[link.rank].host);
        const bool unclear = found.size() > 1 && (hosts.size() > 1 || hosts.contains(""));
        if (unclear) {
            std::string list;
            for (const SlowLink& link : found)
                list += (list.empty() ? "" : ", ") + std::to_string(m_ranks[link.rank].rank);
            m_found.notes.push_back(
                message<"job.slow_group", "Transfers between ranks {ranks} are slower than those of other groups; the "
                                          "traces do not show which of their links is slow.">({{"ranks", list}}));
            found.clear();
        }
        return found;
    }

    void listCollectives()
    {
        std::map<LinkKind, double> best;
        for (const auto& [key, byGroup] : m_transfers) {
            const auto& [kind, ranks, bytes] = key;
            std::map<std::pair<GroupRole, LinkKind>, Transfers> rows;
            for (const auto& [group, transfers] : byGroup) {
                Transfers& row = rows[{roleOf(m_groupTotals.at(group)), transfers.link}];
                row.us.insert(row.us.end(), transfers.us.begin(), transfers.us.end());
                row.waitUs += transfers.waitUs;
                row.members += transfers.members;
            }
            for (const auto& [place, row] : rows) {
                CollectiveUse use{
                    .kind = kind, .role = place.first, .link = place.second, .ranks = ranks, .bytes = bytes};
                use.count = static_cast<std::int64_t>(row.us.size());
                use.waitUs = row.waitUs / static_cast<double>(row.members);
                use.transferUs = percentile({row.us.begin(), row.us.end()}, 0.5);
                const double shortest = std::ranges::min(row.us);
                const double size = static_cast<double>(bytes) / 1e3; // bytes per µs are 10⁶ bytes per second
                if (bytes > 0 && shortest > 0) {
                    use.algorithmGbPerS = size / use.transferUs;
                    use.busGbPerS = use.algorithmGbPerS * busFactor(kind, ranks);
                    use.bestBusGbPerS = size / shortest * busFactor(kind, ranks);
                    best[use.link] = std::max(best[use.link], use.bestBusGbPerS);
                }
                m_found.collectives.push_back(use);
            }
        }
        for (CollectiveUse& use : m_found.collectives)
            if (use.busGbPerS > 0)
                use.linkGbPerS = best[use.link];
        std::ranges::stable_sort(m_found.collectives, std::greater(), [](const CollectiveUse& use) {
            return (use.transferUs + use.waitUs) * static_cast<double>(use.count);
        });
        if (m_found.collectives.size() > kMostCollectives)
            m_found.collectives.resize(kMostCollectives);
    }

    /// Totals of a communicator over all ranks.
    struct GroupTotal {
        CollectiveGroup group;
        std::set<std::int64_t> members;
        std::array<std::int64_t, 11> kinds{};
        std::int64_t calls = 0;
        double exposedUs = 0, waitUs = 0, transferUs = 0;
    };

    [[nodiscard]] GroupRole roleOf(const GroupTotal& total) const
    {
        std::string name;
        for (const char c : total.group.name)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
        if (has("expert") || name.ends_with("ep"))
            return GroupRole::Expert;
        if (has("pipeline") || name.ends_with("pp"))
            return GroupRole::Pipeline;
        if (has("tensor") || name.ends_with("tp"))
            return GroupRole::Tensor;
        if (has("data") || name.ends_with("dp") || has("shard") || has("replicate"))
            return GroupRole::Data;
        if (total.members.empty())
            return GroupRole::Unknown;
        const auto count = [&](CollectiveKind kind) { return total.kinds[static_cast<std::size_t>(kind)]; };
        if (2 * count(CollectiveKind::AllToAll) >= total.calls)
            return GroupRole::Expert;
        if (2 * count(CollectiveKind::SendRecv) >= total.calls)
            return GroupRole::Pipeline;
        const auto size = static_cast<std::int64_t>(std::max(total.members.size(), total.group.ranks.size()));
        const auto job = static_cast<std::int64_t>(m_ranks.size());
        if (total.group.key == 0 || size >= job)
            return GroupRole::Data;
        // Tensor parallelism needs the fast links within a host, so its ranks follow each other.
        const std::set<std::int64_t>& ranks = total.members;
        return *ranks.rbegin() - *ranks.begin() + 1 == static_cast<std::int64_t>(ranks.size()) ? GroupRole::Tensor
                                                                                               : GroupRole::Data;
    }

    void listGroups()
    {
        std::map<GroupRole, GroupUse> roles;
        double rankSteps = 0;
        for (const auto& own : m_steps.own)
            rankSteps += static_cast<double>(std::ranges::count_if(own, [](std::int32_t step) { return step >= 0; }));
        for (const auto& [key, total] : m_groupTotals) {
            if (total.calls == 0)
                continue;
            const GroupRole role = roleOf(total);
            GroupUse& use = roles[role];
            use.role = role;
            ++use.groups;
            use.size = std::max({use.size, total.group.size, static_cast<std::int64_t>(total.members.size())});
            use.calls += total.calls;
            use.exposedUs += total.exposedUs / rankSteps;
            use.waitUs += total.waitUs / rankSteps;
            use.transferUs += total.transferUs / rankSteps;
        }
        for (const auto& [role, use] : roles)
            m_found.groups.push_back(use);
        std::ranges::stable_sort(m_found.groups, std::greater(), &GroupUse::exposedUs);
    }

    void findGradients()
    {
        GradientExchange found;
        std::vector<double> bytes;
        double rankSteps = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            rankSteps +=
                static_cast<double>(std::ranges::count_if(m_steps.own[r], [](std::int32_t step) { return step >= 0; }));
            const RankCollectives& communication = m_ranks[r].communication;
            for (const CollectiveCall& call : communication.calls) {
                if (call.kind != CollectiveKind::AllReduce || stepOf(r, call) < 0 ||
                    roleOf(m_groupTotals.at(communication.groups[call.group].key)) != GroupRole::Data)
                    continue;
                bytes.push_back(static_cast<double>(call.bytes));
                ++found.sizes[call.bytes];
                found.us += toUs(call.range.duration());
                found.exposedUs += toUs(call.exposed);
            }
        }
        if (bytes.empty())
            return;
        found.calls = static_cast<double>(bytes.size()) / rankSteps;
        found.us /= rankSteps;
        found.exposedUs /= rankSteps;
        for (auto& [size, calls] : found.sizes)
            calls /= rankSteps;
        found.medianBytes = percentile(std::move(bytes), 0.5);
        m_found.gradients = std::move(found);
    }

    void findPipeline()
    {
        PipelineUse use;
        double share = 0, ranks = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            JobRank& rank = m_found.ranks[r];
            bool isStage = false;
            for (const CollectiveCall& call : m_ranks[r].communication.calls) {
                if (call.kind != CollectiveKind::SendRecv || stepOf(r, call) < 0)
                    continue;
                isStage = true;
                const CollectiveGroup& group = m_ranks[r].communication.groups[call.group];
                const auto place = std::ranges::find(group.ranks, m_ranks[r].rank);
                if (rank.stage >= 0 || place == group.ranks.end())
                    continue;
                rank.stage = place - group.ranks.begin();
                use.stages = std::max({use.stages, group.size, static_cast<std::int64_t>(group.ranks.size())});
            }
            if (!isStage || rank.stepUs <= 0)
                continue;
            share += rank.bubbleUs / rank.stepUs;
            ++ranks;
        }
        if (ranks == 0)
            return;
        use.bubble = share / ranks;
        m_found.pipeline = use;
    }

    void findImbalance()
    {
        std::vector<double> compute, exchanged;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            double us = 0, steps = 0, bytes = 0;
            for (const double value : m_found.ranks[r].computeByStepUs)
                if (std::isfinite(value)) {
                    us += value;
                    ++steps;
                }
            if (steps > 0)
                compute.push_back(us / steps);
            for (const CollectiveCall& call : m_ranks[r].communication.calls)
                if (call.kind == CollectiveKind::AllToAll && stepOf(r, call) >= 0)
                    bytes += static_cast<double>(call.bytes);
            exchanged.push_back(bytes);
        }
        const auto imbalance = [](const std::vector<double>& values) {
            const double average = mean(values);
            return values.size() > 1 && average > 0 ? std::ranges::max(values) / average - 1 : 0;
        };
        m_found.computeImbalance = imbalance(compute);
        m_found.exchangeImbalance = imbalance(exchanged);
    }

    void addNotes()
    {
        std::string other;
        std::size_t otherRanks = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r)
            if (std::ranges::any_of(m_steps.own[r], [](std::int32_t step) { return step < 0; })) {
                other += (other.empty() ? "" : ", ") + std::to_string(m_ranks[r].rank);
                ++otherRanks;
            }
        if (otherRanks > 0)
            m_found.notes.push_back(
                message<"job.windows",
                        "{ranks|A rank|Ranks} recorded different steps from most: {list}. Only steps that "
                        "most ranks recorded are analysed: {first} to {last}.">(
                    {{"ranks", otherRanks},
                     {"list", other},
                     {"first", m_found.steps.empty() ? 0 : m_found.steps.front()},
                     {"last", m_found.steps.empty() ? 0 : m_found.steps.back()}}));
        for (std::size_t r = 0; r < m_ranks.size(); ++r)
            for (const ClockStep& step : m_found.clock.ranks[r].steps)
                m_found.notes.push_back(
                    message<"job.clock_step", "The clock of rank {rank}{host} jumped by {by} while it recorded.">(
                        {{"rank", m_ranks[r].rank},
                         {"host", m_ranks[r].host.empty() ? std::string() : " (" + m_ranks[r].host + ")"},
                         {"by", toUs(step.by),
                          (step.by.count() < 0 ? "−" : "") + durationText(std::chrono::abs(step.by))}}));
    }

    /// Transfers of one group.
    struct Transfers {
        std::vector<float> us;
        double waitUs = 0;
        std::int64_t members = 0;
        LinkKind link = LinkKind::Unknown;
    };

    std::span<const RankDigest> m_ranks;
    JobSteps m_steps;
    MatchedCollectives m_matched;
    JobAnalysis m_found;
    Lateness m_lateness;
    std::map<std::size_t, std::set<std::size_t>> m_anyLate; ///< by rank: steps with a collective
    /// By kind, ranks and bytes; then by group.
    std::map<std::tuple<CollectiveKind, std::int64_t, std::int64_t>, std::map<std::uint64_t, Transfers>> m_transfers;
    std::map<std::uint64_t, GroupTotal> m_groupTotals;
};

} // namespace

JobSteps jobSteps(std::span<const RankDigest> ranks)
{
    std::map<std::int64_t, std::size_t> counts;
    for (const RankDigest& rank : ranks)
        for (const RankStep& step : rank.steps)
            if (step.steady)
                ++counts[step.index];
    std::size_t most = 0;
    for (const auto& [number, count] : counts)
        most = std::max(most, count);
    JobSteps found;
    std::map<std::int64_t, std::size_t> positions;
    for (const auto& [number, count] : counts)
        if (count == most) {
            positions[number] = found.numbers.size();
            found.numbers.push_back(number);
        }
    for (const RankDigest& rank : ranks) {
        auto& own = found.own.emplace_back(found.numbers.size(), -1);
        auto& at = found.at.emplace_back(rank.steps.size(), -1);
        for (std::size_t i = 0; i < rank.steps.size(); ++i)
            if (const auto position = positions.find(rank.steps[i].index);
                position != positions.end() && own[position->second] < 0) {
                own[position->second] = static_cast<std::int32_t>(i);
                at[i] = static_cast<std::int32_t>(position->second);
            }
    }
    return found;
}

double middle(std::vector<double> values)
{
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty())
        return kNaN;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, at);
    return *at;
}

std::string_view groupRoleName(GroupRole role)
{
    constexpr std::array<std::string_view, 5> kNames = {"data", "tensor", "pipeline", "expert", "unknown"};
    return kNames[static_cast<std::size_t>(role)];
}

std::string_view linkName(LinkKind link)
{
    constexpr std::array<std::string_view, 3> kNames = {"unknown", "within host", "between hosts"};
    return kNames[static_cast<std::size_t>(link)];
}

JobAnalysis analyseJob(std::span<const RankDigest> ranks)
{
    return Analysing(ranks).analyse();
}

} // namespace profiler::analysis
