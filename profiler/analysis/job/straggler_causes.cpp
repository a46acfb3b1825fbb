#include "profiler/analysis/job/job_analysis.h"

#include "profiler/analysis/intervals.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace profiler::analysis {

namespace {

// A rank that delays each step by less than this share does not matter.
constexpr double kLeastShare = 0.03;
// A delay of a single step that stands out, as a share of the usual step.
constexpr double kLeastOfStep = 0.15;
// Deviations from the usual lateness beyond which a mean, or a single step, is not jitter.
constexpr double kMeanSigmas = 4, kStepSigmas = 8;
constexpr double kToSigma = 1.4826; // of a normal distribution per median absolute deviation
// Late in this share of the steps: always.
constexpr double kMostSteps = 0.6;
// Share of the lateness that a cause must explain.
constexpr double kExplains = 0.3, kVictim = 0.5;
// The device lowers its clock in this share of the samples, beyond what other ranks show.
constexpr double kThrottled = 0.1;
constexpr std::size_t kNamed = 3; ///< kernels in a message

std::string shortName(std::string_view name)
{
    constexpr std::size_t kMost = 60;
    if (name.starts_with("void "))
        name.remove_prefix(5);
    if (name.size() <= kMost)
        return std::string(name);
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) // inside a character
        --end;
    std::string shown(name.substr(0, end));
    shown += "…";
    return shown;
}

/// A rank and the analysed steps in which it is late.
struct Late {
    std::size_t rank = 0;
    double us = 0;
    std::vector<std::size_t> steps{};
    bool always = false;
};

/// Mean of the values of a rank over the given steps that it recorded.
template <class Value>
double meanOver(const std::vector<std::int32_t>& own, const std::vector<std::size_t>& steps, const Value& value)
{
    double sum = 0, count = 0;
    for (const std::size_t step : steps)
        if (own[step] >= 0) {
            sum += value(static_cast<std::size_t>(own[step]));
            ++count;
        }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

class Finding {
public:
    Finding(std::span<const RankDigest> ranks, const JobSteps& steps, const Lateness& lateness)
        : m_ranks(ranks), m_steps(steps), m_lateness(lateness)
    {
        std::vector<double> durations;
        for (std::size_t r = 0; r < ranks.size(); ++r)
            for (std::size_t s = 0; s < steps.count(); ++s)
                if (steps.own[r][s] >= 0)
                    durations.push_back(toUs(stepOf(r, s).range.duration()));
        m_stepUs = middle(std::move(durations));
        std::vector<double> deviations;
        for (const std::vector<double>& rank : lateness) {
            m_usual.push_back(middle(rank));
            for (const double late : rank)
                if (std::isfinite(late))
                    deviations.push_back(std::abs(late - m_usual.back()));
        }
        const double deviation = middle(std::move(deviations));
        m_sigma = std::isfinite(deviation) ? kToSigma * deviation : 0;
    }

    [[nodiscard]] std::vector<Late> lateRanks() const
    {
        std::vector<Late> found;
        for (std::size_t r = 0; r < m_ranks.size(); ++r)
            if (auto late = lateAlways(r))
                found.push_back(std::move(*late));
            else if (late = lateSometimes(r); late)
                found.push_back(std::move(*late));
        return found;
    }

    /// The straggler, unless the rank is late because it waits itself.
    [[nodiscard]] std::optional<Straggler> explain(const Late& late) const
    {
        Straggler straggler{.rank = late.rank, .lateUs = late.us, .always = late.always};
        for (const std::size_t step : late.steps)
            straggler.steps.push_back(m_steps.numbers[step]);
        std::array<double, kRankTimeParts> excess{};
        for (std::size_t part = 0; part < kRankTimeParts; ++part)
            excess[part] = excessOf(late, static_cast<RankTimePart>(part));
        auto waits = static_cast<std::size_t>(RankTimePart::Communication);
        std::size_t most = waits == 0 ? 1 : 0;
        for (std::size_t part = 0; part < kRankTimeParts; ++part)
            if (part != waits && excess[part] > excess[most])
                most = part;
        if (excess[most] < kExplains * late.us) {
            if (excess[waits] >= kVictim * late.us)
                return std::nullopt;
            straggler.reason = message<"job.straggler.unknown",
                                       "Rank {rank} arrives {late} late at collectives; its trace does not show why.">(
                {rankParameter(late.rank), lateParameter(late)});
            return straggler;
        }
        name(straggler, late, static_cast<RankTimePart>(most), excess[most]);
        return straggler;
    }

    [[nodiscard]] MessageParameter rankParameter(std::size_t rank) const { return {"rank", m_ranks[rank].rank}; }

private:
    [[nodiscard]] const RankStep& stepOf(std::size_t rank, std::size_t step) const
    {
        return m_ranks[rank].steps[static_cast<std::size_t>(m_steps.own[rank][step])];
    }

    [[nodiscard]] std::optional<Late> lateAlways(std::size_t rank) const
    {
        std::vector<std::size_t> steps;
        double sum = 0, count = 0;
        for (std::size_t s = 0; s < m_steps.count(); ++s) {
            const double late = m_lateness[rank][s];
            if (!std::isfinite(late))
                continue;
            ++count;
            if (late >= kLeastShare * m_stepUs) {
                steps.push_back(s);
                sum += late;
            }
        }
        const double limit = std::max(kLeastShare * m_stepUs, kMeanSigmas * m_sigma / std::sqrt(std::max(count, 1.0)));
        if (count == 0 || !(m_usual[rank] >= limit) || static_cast<double>(steps.size()) < kMostSteps * count)
            return std::nullopt;
        return Late{rank, sum / static_cast<double>(steps.size()), std::move(steps), true};
    }

    [[nodiscard]] std::optional<Late> lateSometimes(std::size_t rank) const
    {
        const double usual = std::isfinite(m_usual[rank]) ? std::max(m_usual[rank], 0.0) : 0;
        const double limit = std::max(kLeastOfStep * m_stepUs, kStepSigmas * m_sigma);
        Late late{.rank = rank};
        for (std::size_t s = 0; s < m_steps.count(); ++s)
            if (m_lateness[rank][s] - usual >= limit) {
                late.steps.push_back(s);
                late.us += m_lateness[rank][s];
            }
        if (late.steps.empty())
            return std::nullopt;
        late.us /= static_cast<double>(late.steps.size());
        return late;
    }

    [[nodiscard]] static MessageParameter lateParameter(const Late& late)
    {
        return {"late", late.us, timeText(late.us)};
    }

    /// Mean time beyond the median of the other ranks in the same steps, in µs.
    [[nodiscard]] double excessOf(const Late& late, RankTimePart part) const
    {
        std::vector<double> others;
        double mine = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            const double us = meanOver(m_steps.own[r], late.steps,
                                       [&](std::size_t step) { return toUs(m_ranks[r].steps[step].part(part)); });
            if (r == late.rank)
                mine = us;
            else
                others.push_back(us);
        }
        const double excess = mine - middle(std::move(others));
        return std::isfinite(excess) ? excess : 0;
    }

    /// A kernel's time in the late steps, on the late rank and on the others.
    struct NameExcess {
        std::string name;
        double us = 0, otherUs = 0, count = 0, otherCount = 0;
        [[nodiscard]] double excess() const { return us - otherUs; }
    };

    [[nodiscard]] std::vector<NameExcess> namesOf(const Late& late) const
    {
        std::vector<NameExcess> found;
        for (const WorkTotal& work : m_ranks[late.rank].work) {
            NameExcess row{.name = work.name};
            std::vector<double> us, counts;
            for (std::size_t r = 0; r < m_ranks.size(); ++r) {
                const auto same = std::ranges::find(m_ranks[r].work, work.name, &WorkTotal::name);
                if (same == m_ranks[r].work.end())
                    continue;
                const double time =
                    meanOver(m_steps.own[r], late.steps, [&](std::size_t step) { return same->us[step]; });
                const double count =
                    meanOver(m_steps.own[r], late.steps, [&](std::size_t step) { return same->count[step]; });
                if (r == late.rank) {
                    row.us = time;
                    row.count = count;
                } else {
                    us.push_back(time);
                    counts.push_back(count);
                }
            }
            const double otherUs = middle(std::move(us)), otherCount = middle(std::move(counts));
            row.otherUs = std::isfinite(otherUs) ? otherUs : 0;
            row.otherCount = std::isfinite(otherCount) ? otherCount : 0;
            found.push_back(std::move(row));
        }
        std::ranges::stable_sort(found, std::greater(), &NameExcess::excess);
        return found;
    }

    /// True if all kernels are slower by about the same factor, and none runs more often.
    [[nodiscard]] static bool isUniform(const std::vector<NameExcess>& names)
    {
        double us = 0, otherUs = 0, alike = 0;
        std::size_t large = 0;
        for (const NameExcess& row : names) {
            us += row.us;
            otherUs += row.otherUs;
        }
        if (otherUs <= 0 || us < 1.02 * otherUs)
            return false;
        const double factor = us / otherUs;
        for (const NameExcess& row : names) {
            if (row.otherUs <= 0 || std::abs(row.count - row.otherCount) > 0.02 * row.otherCount)
                continue;
            large += row.us >= 0.02 * us ? 1 : 0;
            const double own = row.us / row.otherUs;
            if (own - 1 >= 0.6 * (factor - 1) && own - 1 <= 1.5 * (factor - 1))
                alike += row.us;
        }
        return large >= 3 && alike >= 0.9 * us;
    }

    [[nodiscard]] bool isThrottled(std::size_t rank) const
    {
        std::vector<double> others;
        for (std::size_t r = 0; r < m_ranks.size(); ++r)
            if (r != rank)
                others.push_back(m_ranks[r].throttled);
        const double usual = middle(std::move(others));
        return m_ranks[rank].throttled >= kThrottled + (std::isfinite(usual) ? usual : 0);
    }

    void name(Straggler& straggler, const Late& late, RankTimePart part, double excess) const
    {
        const MessageParameter rank = rankParameter(late.rank), lateBy = lateParameter(late);
        const MessageParameter longer{"excess", excess, timeText(excess)};
        switch (part) {
        case RankTimePart::Compute:
            nameCompute(straggler, late, excess);
            return;
        case RankTimePart::Copy:
            straggler.cause = StragglerCause::SlowCopy;
            straggler.reason =
                message<"job.straggler.copy", "Rank {rank} arrives {late} late: its copies between host "
                                              "and device take {excess} longer.">({rank, lateBy, longer});
            return;
        case RankTimePart::GarbageCollection:
            straggler.cause = StragglerCause::GarbageCollection;
            straggler.reason = message<"job.straggler.gc", "Rank {rank} arrives {late} late: Python's garbage "
                                                           "collection takes {excess} longer.">({rank, lateBy, longer});
            return;
        case RankTimePart::DataWait:
            straggler.cause = StragglerCause::SlowLoader;
            straggler.reason = message<"job.straggler.loader",
                                       "Rank {rank} arrives {late} late: it waits {excess} longer for its loader.">(
                {rank, lateBy, longer});
            return;
        case RankTimePart::Host:
        case RankTimePart::Communication:
            straggler.cause = StragglerCause::SlowHost;
            straggler.reason =
                m_ranks[late.rank].usesDevice
                    ? message<"job.straggler.host", "Rank {rank} arrives {late} late: its device waits {excess} "
                                                    "longer for the host, which launches work more slowly.">(
                          {rank, lateBy, longer})
                    : message<"job.straggler.host_code", "Rank {rank} arrives {late} late: {excess} more of its time "
                                                         "is outside of operators.">({rank, lateBy, longer});
            return;
        }
    }

    void nameCompute(Straggler& straggler, const Late& late, double excess) const
    {
        const MessageParameter rank = rankParameter(late.rank), lateBy = lateParameter(late);
        const MessageParameter longer{"excess", excess, timeText(excess)};
        const std::vector<NameExcess> names = namesOf(late);
        const bool device = m_ranks[late.rank].usesDevice;
        if (device && isThrottled(late.rank)) {
            const double share = m_ranks[late.rank].throttled;
            straggler.cause = StragglerCause::Throttling;
            straggler.reason = message<"job.straggler.throttled",
                                       "Rank {rank} arrives {late} late: its kernels take {excess} longer, and its "
                                       "device lowered its clock in {share} of the samples.">(
                {rank, lateBy, longer, {"share", share, shareText(share)}});
            return;
        }
        if (isUniform(names)) {
            straggler.cause = device ? StragglerCause::Throttling : StragglerCause::SlowHost;
            straggler.reason =
                device ? message<"job.straggler.uniform", "Rank {rank} arrives {late} late: all of its kernels are "
                                                          "slower by about the same factor, {excess} in total, as "
                                                          "with a lowered clock.">({rank, lateBy, longer})
                       : message<"job.straggler.processor", "Rank {rank} arrives {late} late: all of its operators "
                                                            "are slower by about the same factor, {excess} in "
                                                            "total: its processor is slower or shared.">(
                             {rank, lateBy, longer});
            return;
        }
        straggler.cause = StragglerCause::SlowCompute;
        std::string list;
        for (std::size_t i = 0; i < std::min(kNamed, names.size()); ++i) {
            const NameExcess& row = names[i];
            if (row.excess() < 0.1 * excess)
                break;
            list += (list.empty() ? "" : ", ") + shortName(row.name) + " (" + timeText(row.us) + " instead of " +
                    timeText(row.otherUs) +
                    (row.count > 1.02 * row.otherCount
                         ? "; " + countText(row.count) + " times instead of " + countText(row.otherCount)
                         : "") +
                    ")";
        }
        straggler.reason =
            message<"job.straggler.compute", "Rank {rank} arrives {late} late: it computes {excess} longer{names}.">(
                {rank, lateBy, longer, {"names", list.empty() ? list : ": " + list}});
    }

    std::span<const RankDigest> m_ranks;
    const JobSteps& m_steps;
    const Lateness& m_lateness;
    std::vector<double> m_usual; ///< median lateness by rank, µs
    double m_stepUs = 0, m_sigma = 0;
};

/// Marks stragglers that share their host and cause with all other ranks of the host.
void markHosts(std::span<const RankDigest> ranks, std::vector<Straggler>& stragglers)
{
    std::map<std::string, std::size_t> sizes;
    for (const RankDigest& rank : ranks)
        ++sizes[rank.host];
    std::map<std::pair<std::string, StragglerCause>, std::size_t> late;
    for (const Straggler& straggler : stragglers)
        ++late[{ranks[straggler.rank].host, straggler.cause}];
    for (Straggler& straggler : stragglers) {
        const std::string& host = ranks[straggler.rank].host;
        straggler.wholeHost =
            !host.empty() && sizes.size() > 1 && sizes[host] > 1 &&
            static_cast<double>(late[{host, straggler.cause}]) >= 0.8 * static_cast<double>(sizes[host]);
    }
}

} // namespace

std::vector<Straggler> findStragglers(std::span<const RankDigest> ranks, const JobSteps& steps,
                                      const Lateness& lateness, const std::vector<SlowLink>& slowLinks)
{
    std::vector<Straggler> found;
    if (steps.count() == 0 || ranks.size() < 2)
        return found;
    const Finding finding(ranks, steps, lateness);
    for (const SlowLink& link : slowLinks)
        found.push_back(
            {.rank = link.rank,
             .cause = StragglerCause::SlowLink,
             .lateUs = link.excessUs,
             .steps = steps.numbers,
             .always = true,
             .reason =
                 message<"job.straggler.link", "Transfers of rank {rank} take {ratio} times as long as those of other "
                                               "ranks in groups of the same size, {excess} in a step.">(
                     {finding.rankParameter(link.rank),
                      {"ratio", link.ratio, significantText(link.ratio)},
                      {"excess", link.excessUs, timeText(link.excessUs)}})});
    for (const Late& late : finding.lateRanks()) {
        const bool link = std::ranges::any_of(slowLinks, [&](const SlowLink& one) { return one.rank == late.rank; });
        if (auto straggler = finding.explain(late); straggler && !(link && straggler->cause == StragglerCause::Unknown))
            found.push_back(std::move(*straggler));
    }
    markHosts(ranks, found);
    std::ranges::stable_sort(found, std::greater(), [](const Straggler& straggler) {
        return straggler.lateUs * static_cast<double>(straggler.steps.size());
    });
    return found;
}

std::string_view stragglerCauseName(StragglerCause cause)
{
    constexpr std::array<std::string_view, 8> kNames = {"unknown",     "slow_compute",       "throttling", "slow_host",
                                                        "slow_loader", "garbage_collection", "slow_copy",  "slow_link"};
    return kNames[static_cast<std::size_t>(cause)];
}

} // namespace profiler::analysis
