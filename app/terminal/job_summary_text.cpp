#include "advisor/numbers.h"
#include "app/terminal/job_summary.h"
#include "app/terminal/text_table.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/job/scaling.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <vector>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kMostRanks = 32; ///< in the table; the JSON contains all of them
constexpr std::size_t kMostRows = 12, kMostNumbers = 16;
// Work above the mean that is worth a line, and how much of a step it takes at least.
constexpr double kUneven = 0.05, kLeastOfStep = 0.01;

std::string numbersText(const std::vector<std::int64_t>& numbers)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(numbers.size(), kMostNumbers); ++i)
        text += fmt::format("{}{}", i > 0 ? ", " : "", numbers[i]);
    return numbers.size() > kMostNumbers ? text + fmt::format(" and {} more", numbers.size() - kMostNumbers) : text;
}

std::string headingText(const JobSummary& summary)
{
    const job::Job& job = summary.job;
    const JobAnalysis& analysis = job.analysis;
    std::string text =
        fmt::format("Job of {} rank{}, {} recorded · {} step{} in common · step {} · efficiency {}\n", job.worldSize,
                    job.worldSize == 1 ? "" : "s", job.ranks.size(), analysis.steps.size(),
                    analysis.steps.size() == 1 ? "" : "s", timeText(analysis.stepUs), shareText(analysis.efficiency));
    text += analysis.clock.refined
                ? fmt::format("Clocks are aligned by {} collectives, to within {}.\n", countText(analysis.matched),
                              timeText(toUs(analysis.clock.error)))
                : "No collective connects the ranks: their clocks are aligned by the time of day only.\n";
    if (!job.missing.empty())
        text += wrapped(fmt::format("Missing ranks: {}.", numbersText(job.missing)), kWidth, 0);
    for (const job::ExcludedFile& file : job.excluded)
        text += wrapped(fmt::format("Left out: {}: {}", file.file.string(), file.why.text), kWidth, 0);
    for (const auto* notes : {&job.notes, &analysis.notes})
        for (const Message& note : *notes)
            text += wrapped(note.text, kWidth, 0);
    return text;
}

std::string stragglersText(const JobSummary& summary)
{
    const JobAnalysis& analysis = summary.job.analysis;
    if (analysis.stragglers.empty())
        return analysis.matched > 0 ? "\nNo rank delays the others.\n" : "";
    std::string text = "\nRanks that delay the others\n";
    for (const Straggler& straggler : analysis.stragglers) {
        const RankDigest& rank = summary.job.ranks[straggler.rank];
        std::string when = straggler.always ? "in every step" : "in step " + numbersText(straggler.steps);
        if (straggler.wholeHost)
            when += ", like the other ranks of " + rank.host;
        text += wrapped(straggler.reason.text + " (" + when + ")", kWidth, 2);
    }
    return text;
}

std::string ranksText(const JobSummary& summary)
{
    TextTable table({"Rank", "host", "step", "busy", "exposed", "waits", "transfer", "late"});
    const JobAnalysis& analysis = summary.job.analysis;
    std::vector<std::size_t> shown(summary.job.ranks.size());
    for (std::size_t i = 0; i < shown.size(); ++i)
        shown[i] = i;
    const bool all = shown.size() <= kMostRanks;
    if (!all) {
        std::ranges::stable_sort(shown, std::greater(), [&](std::size_t i) { return analysis.ranks[i].lateUs; });
        shown.resize(kMostRanks);
    }
    for (const std::size_t i : shown) {
        const RankDigest& digest = summary.job.ranks[i];
        const JobRank& rank = analysis.ranks[i];
        table.add({std::to_string(digest.rank), digest.host.empty() ? "-" : digest.host, timeText(rank.stepUs),
                   shareText(digest.busy), timeText(rank.exposedUs), timeText(rank.waitUs), timeText(rank.transferUs),
                   rank.lateUs > 0 ? timeText(rank.lateUs) : "-"});
    }
    return "\n" + table.text() +
           (all ? "  Times of communication per step. Waits: for other ranks in collectives.\n"
                : fmt::format("  The {} latest of {} ranks; times of communication per step.\n", kMostRanks,
                              summary.job.ranks.size()));
}

/// Pipeline bubbles, and work that is divided unevenly.
std::string workText(const job::Job& job)
{
    const JobAnalysis& analysis = job.analysis;
    const JobTime time = jobTime({job.ranks, analysis});
    const double unevenUs = analysis.computeImbalance * time.part(JobTimePart::Compute);
    std::string text;
    if (analysis.pipeline)
        text += fmt::format(
            "  Pipeline{}: a stage has no work between its first and last micro-batch for {} of a step.\n",
            analysis.pipeline->stages > 0 ? fmt::format(" of {} stages", analysis.pipeline->stages) : std::string(),
            shareText(analysis.pipeline->bubble));
    if (analysis.computeImbalance >= kUneven && unevenUs >= kLeastOfStep * time.stepUs)
        text += fmt::format("  Compute is uneven: the rank with the most takes {} longer than the mean.\n",
                            shareText(analysis.computeImbalance));
    if (analysis.exchangeImbalance >= kUneven)
        text += fmt::format("  All-to-alls are uneven: the rank with the most bytes has {} more than the mean.\n",
                            shareText(analysis.exchangeImbalance));
    return text.empty() ? text : "\nHow the work is divided\n" + text;
}

std::string communicationText(const JobAnalysis& analysis)
{
    TextTable groups({"Group", "communicators", "size", "exposed per step", "waits", "transfer"});
    for (const GroupUse& use : analysis.groups)
        groups.add({std::string(groupRoleName(use.role)), countText(use.groups), countText(use.size),
                    timeText(use.exposedUs), timeText(use.waitUs), timeText(use.transferUs)});
    TextTable collectives(
        {"Collective", "group", "ranks", "size", "count", "transfer", "waits", "bus GB/s", "best", "link"});
    const auto rate = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : "-"; };
    for (std::size_t i = 0; i < std::min(kMostRows, analysis.collectives.size()); ++i) {
        const CollectiveUse& use = analysis.collectives[i];
        collectives.add({std::string(collectiveName(use.kind)), std::string(groupRoleName(use.role)),
                         countText(use.ranks), use.bytes > 0 ? bytesText(use.bytes) : "-", countText(use.count),
                         timeText(use.transferUs), timeText(use.waitUs), rate(use.busGbPerS), rate(use.bestBusGbPerS),
                         rate(use.linkGbPerS)});
    }
    std::string text;
    for (const TextTable* table : {&groups, &collectives})
        if (!table->empty())
            text += "\n" + table->text();
    if (!collectives.empty())
        text += "  Best: of the same collective. Link: of any collective within a host, or between hosts.\n";
    return text;
}

} // namespace

std::string toText(const JobSummary& summary)
{
    return headingText(summary) + stragglersText(summary) + ranksText(summary) + workText(summary.job) +
           communicationText(summary.job.analysis) + "\nAll ranks together; steps and phases are those of " +
           (summary.job.analysis.slowest ? fmt::format("rank {}", summary.job.ranks[*summary.job.analysis.slowest].rank)
                                         : std::string("one rank")) +
           "\n" + toText(*summary.frame, summary.all);
}

} // namespace app::terminal
