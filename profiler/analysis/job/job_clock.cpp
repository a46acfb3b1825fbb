#include "profiler/analysis/job/job_clock.h"

#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace profiler::analysis {

namespace {

using Member = MatchedCollective::Member;

// A clock that NTP slews moves by less between two collectives; a clock that is set jumps by more.
constexpr std::int64_t kLeastJump = 500'000;
constexpr std::size_t kJumpWindow = 5;       ///< collectives on each side of a jump
constexpr std::size_t kMostJumps = 8;        ///< of one rank
constexpr std::int64_t kLeastDrift = 20'000; ///< ns over the recording: less cannot be told from jitter

std::int64_t medianOf(std::vector<std::int64_t> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// Median absolute deviation.
std::int64_t spreadOf(const std::vector<std::int64_t>& values, std::int64_t median)
{
    std::vector<std::int64_t> deviations;
    deviations.reserve(values.size());
    for (const std::int64_t value : values)
        deviations.push_back(std::abs(value - median));
    return medianOf(std::move(deviations));
}

/// The clocks of two ranks, compared at the ends of their collectives.
struct Difference {
    std::uint32_t a = 0, b = 0;
    std::int64_t bMinusA = 0; ///< to be added to b's times
    double error = 0;         ///< ns
};

class Aligning {
public:
    Aligning(std::span<const RankDigest> ranks, MatchedCollectives& matched) : m_ranks(ranks), m_matched(matched)
    {
        for (const RankDigest& rank : ranks)
            m_clocks.push_back({.toJob = rank.toRealtime});
    }

    JobClock align()
    {
        compareRanks();
        findOffsets();
        divideUnknownGroups(m_ranks, offsets(), std::chrono::milliseconds(1), m_matched);
        refine();
        JobClock clock;
        for (const RankClock& rank : m_clocks)
            if (rank.refined) {
                clock.refined = true;
                clock.error = std::max(clock.error, rank.error);
            }
        clock.ranks = std::move(m_clocks);
        return clock;
    }

private:
    [[nodiscard]] const CollectiveCall& callOf(Member member) const
    {
        return m_ranks[member.rank].communication.calls[member.call];
    }
    [[nodiscard]] std::int64_t endNs(Member member) const { return toNs(callOf(member).range.end); }

    [[nodiscard]] std::vector<Nanoseconds> offsets() const
    {
        std::vector<Nanoseconds> toJob;
        for (const RankClock& clock : m_clocks)
            toJob.push_back(clock.toJob);
        return toJob;
    }

    /// Compares each rank of a group with the first one.
    void compareRanks()
    {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> ends;
        for (const MatchedCollective& collective : m_matched.all) {
            if (!waitsForAll(collective.kind))
                continue;
            const auto members = m_matched.of(collective);
            for (const Member member : members.subspan(1))
                ends[{members.front().rank, member.rank}].push_back(endNs(members.front()) - endNs(member));
        }
        for (auto& [pair, values] : ends) {
            const std::int64_t median = medianOf(values);
            const double error =
                static_cast<double>(spreadOf(values, median)) / std::sqrt(static_cast<double>(values.size()));
            m_differences.push_back({pair.first, pair.second, median, error + 1});
        }
    }

    /// Shortest paths from rank to rank, by their errors.
    void findOffsets()
    {
        std::vector<std::vector<std::pair<std::uint32_t, const Difference*>>> next(m_ranks.size());
        for (const Difference& one : m_differences) {
            next[one.a].emplace_back(one.b, &one);
            next[one.b].emplace_back(one.a, &one);
        }
        std::vector<std::int64_t> offset(m_ranks.size(), 0);
        std::vector<bool> known(m_ranks.size(), false);
        for (std::uint32_t root = 0; root < m_ranks.size(); ++root) {
            if (known[root] || next[root].empty())
                continue;
            std::vector<std::uint32_t> component;
            using Entry = std::tuple<double, std::uint32_t, std::int64_t>;
            std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
            queue.emplace(0, root, m_ranks[root].toRealtime.count());
            while (!queue.empty()) {
                const auto [cost, rank, value] = queue.top();
                queue.pop();
                if (known[rank])
                    continue;
                known[rank] = true;
                offset[rank] = value;
                component.push_back(rank);
                for (const auto& [other, difference] : next[rank])
                    if (!known[other])
                        queue.emplace(cost + difference->error, other,
                                      difference->a == rank ? value + difference->bMinusA
                                                            : value - difference->bMinusA);
            }
            keepRealtime(component, offset);
        }
    }

    /// Shifts connected ranks together so that the median rank keeps its CLOCK_REALTIME.
    void keepRealtime(const std::vector<std::uint32_t>& component, const std::vector<std::int64_t>& offset)
    {
        std::vector<std::int64_t> corrections;
        for (const std::uint32_t rank : component)
            corrections.push_back(offset[rank] - m_ranks[rank].toRealtime.count());
        const std::int64_t common = medianOf(std::move(corrections));
        for (const std::uint32_t rank : component) {
            m_clocks[rank].toJob = Nanoseconds{offset[rank] - common};
            m_clocks[rank].correction = m_clocks[rank].toJob - m_ranks[rank].toRealtime;
            m_clocks[rank].refined = component.size() > 1;
        }
    }

    struct Residual {
        TraceTime at{};        ///< end of the collective, by the rank's clock
        std::int64_t late = 0; ///< after the median end of the collective, ns
    };

    /// The median end. If one half of the ranks differs from the other, that of the half with the lowest rank, so that
    /// the same ranks count as deviating throughout.
    [[nodiscard]] static std::int64_t commonEnd(std::span<const Member> members, const std::vector<std::int64_t>& ends)
    {
        std::vector<std::int64_t> sorted = ends;
        std::ranges::sort(sorted);
        const std::int64_t lower = sorted[(sorted.size() - 1) / 2], upper = sorted[sorted.size() / 2];
        const auto lowest = std::ranges::min_element(members, {}, &Member::rank) - members.begin();
        const std::int64_t own = ends[static_cast<std::size_t>(lowest)];
        return std::abs(own - lower) <= std::abs(own - upper) ? lower : upper;
    }

    /// Finds jumps, drift and the error of each rank's clock from the ends that remain different.
    void refine()
    {
        std::vector<std::vector<Residual>> residuals(m_ranks.size());
        std::vector<std::int64_t> ends;
        for (const MatchedCollective& collective : m_matched.all) {
            if (!waitsForAll(collective.kind))
                continue;
            ends.clear();
            const auto members = m_matched.of(collective);
            for (const Member member : members)
                ends.push_back(endNs(member) + m_clocks[member.rank].toJob.count());
            const std::int64_t median = commonEnd(members, ends);
            for (std::size_t i = 0; i < members.size(); ++i)
                residuals[members[i].rank].push_back({callOf(members[i]).range.end, ends[i] - median});
        }
        for (std::size_t i = 0; i < m_ranks.size(); ++i) {
            std::ranges::sort(residuals[i], {}, &Residual::at);
            findJumps(residuals[i], m_clocks[i]);
            findDrift(residuals[i], m_clocks[i]);
            std::vector<std::int64_t> left;
            for (const Residual& residual : residuals[i])
                left.push_back(std::abs(residual.late));
            m_clocks[i].error = Nanoseconds{medianOf(std::move(left))};
        }
    }

    static std::int64_t medianLate(std::span<const Residual> residuals)
    {
        std::vector<std::int64_t> values;
        for (const Residual& residual : residuals)
            values.push_back(residual.late);
        return medianOf(std::move(values));
    }

    /// Removes jumps from the residuals. The offset fits the longer side of a jump.
    static void findJumps(std::vector<Residual>& residuals, RankClock& clock)
    {
        std::vector<std::int64_t> changes;
        for (std::size_t i = 1; i < residuals.size(); ++i)
            changes.push_back(std::abs(residuals[i].late - residuals[i - 1].late));
        const std::int64_t least = std::max(kLeastJump, 20 * medianOf(std::move(changes)));
        while (clock.steps.size() < kMostJumps) {
            std::size_t place = 0;
            std::int64_t largest = 0;
            for (std::size_t i = kJumpWindow; i + kJumpWindow <= residuals.size(); ++i) {
                const std::int64_t change = medianLate(std::span(residuals).subspan(i, kJumpWindow)) -
                                            medianLate(std::span(residuals).subspan(i - kJumpWindow, kJumpWindow));
                if (std::abs(change) > std::abs(largest)) {
                    largest = change;
                    place = i;
                }
            }
            if (std::abs(largest) < least)
                break;
            // The windows locate the jump to within half of their width; the largest single change is the jump.
            std::int64_t sharpest = 0;
            for (std::size_t i = place - kJumpWindow + 1; i < place + kJumpWindow; ++i)
                if (const std::int64_t change = std::abs(residuals[i].late - residuals[i - 1].late);
                    change > sharpest) {
                    sharpest = change;
                    place = i;
                }
            const std::int64_t before = medianLate(std::span(residuals).first(place));
            const std::int64_t after = medianLate(std::span(residuals).subspan(place));
            const std::int64_t by = after - before;
            if (std::abs(by) < least)
                break;
            clock.steps.push_back({residuals[place].at, Nanoseconds{by}});
            for (std::size_t i = place; i < residuals.size(); ++i)
                residuals[i].late -= by;
            if (before != 0) { // the offset fitted the later side, or none
                clock.toJob -= Nanoseconds{before};
                clock.correction -= Nanoseconds{before};
                for (Residual& residual : residuals)
                    residual.late -= before;
            }
        }
        std::ranges::sort(clock.steps, {}, &ClockStep::at);
    }

    static void findDrift(std::vector<Residual>& residuals, RankClock& clock)
    {
        const std::size_t quarter = residuals.size() / 4;
        if (quarter < kJumpWindow)
            return;
        const auto first = std::span(residuals).first(quarter), last = std::span(residuals).last(quarter);
        const std::int64_t moved = medianLate(last) - medianLate(first);
        const auto between = static_cast<double>((last[quarter / 2].at - first[quarter / 2].at).count());
        std::vector<std::int64_t> changes;
        for (std::size_t i = 1; i < residuals.size(); ++i)
            changes.push_back(std::abs(residuals[i].late - residuals[i - 1].late));
        if (std::abs(moved) < std::max(kLeastDrift, 4 * medianOf(std::move(changes))) || between <= 0)
            return;
        const double slope = static_cast<double>(moved) / between;
        clock.driftPpm = slope * 1e6;
        clock.driftFrom = residuals.front().at;
        for (Residual& residual : residuals)
            residual.late -= std::llround(slope * static_cast<double>((residual.at - clock.driftFrom).count()));
        const std::int64_t rest = medianLate(residuals);
        clock.toJob -= Nanoseconds{rest};
        clock.correction -= Nanoseconds{rest};
        for (Residual& residual : residuals)
            residual.late -= rest;
    }

    std::span<const RankDigest> m_ranks;
    MatchedCollectives& m_matched;
    std::vector<RankClock> m_clocks;
    std::vector<Difference> m_differences;
};

} // namespace

TraceTime RankClock::operator()(TraceTime time) const
{
    TraceTime result = time + toJob;
    for (const ClockStep& step : steps)
        if (time >= step.at)
            result -= step.by;
    if (driftPpm != 0)
        result -= Nanoseconds{std::llround(driftPpm * 1e-6 * static_cast<double>((time - driftFrom).count()))};
    return result;
}

JobClock alignClocks(std::span<const RankDigest> ranks, MatchedCollectives& matched)
{
    return Aligning(ranks, matched).align();
}

} // namespace profiler::analysis
