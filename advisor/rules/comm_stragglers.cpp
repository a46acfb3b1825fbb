#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/prediction/confidence.h"
#include "advisor/verdict.h"
#include "profiler/analysis/communication/stragglers.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Minimum share of the time that a rank waits without overlapping compute: below it, the wait does not matter.
constexpr double kMinimumShare = 0.05;
// Fewer collectives do not show which rank is late.
constexpr std::int64_t kFewest = 8;
// A rank counts as late if it arrives last this many times as often as expected by chance.
constexpr double kOftenLast = 1.5;

double shareOfWindow(const RuleContext& c, double us)
{
    const double all = toUs(c.facts.device.windowTime());
    return all > 0 ? us / all : 0;
}

/// The rank that arrives last much more often than expected by chance; null if the ranks take turns.
const RankArrival* lateRank(const Stragglers& found)
{
    const auto late = std::max_element(found.ranks.begin(), found.ranks.end(),
                                       [](const RankArrival& a, const RankArrival& b) { return a.last < b.last; });
    const double fair = 1 / static_cast<double>(found.ranks.size());
    const ShareInterval share = shareInterval(static_cast<double>(late->last), static_cast<double>(found.collectives));
    return share.mid >= kOftenLast * fair && share.low > fair ? &*late : nullptr;
}

Advice finding(const RuleContext& c, const CommunicationUse& use, const Stragglers& found, double meanWaitUs,
               double share)
{
    const RankArrival* late = lateRank(found);
    const profiler::MessageParameter collectives{"collectives", found.collectives,
                                                 countText(static_cast<double>(found.collectives))};
    const profiler::MessageParameter waiting{"share", share, shareText(share)};
    Advice advice = fires(
        late ? message<"comm.stragglers.late_rank",
                       "On average, ranks wait for each other in collectives for {share} of the time, exposed. Device "
                       "{device} arrives last at {last} of {collectives} collectives.">(
                   {waiting,
                    collectives,
                    {"device", static_cast<std::int64_t>(late->device.value)},
                    {"last", late->last, countText(static_cast<double>(late->last))}})
             : message<"comm.stragglers.turns",
                       "On average, ranks wait for each other in collectives for {share} of the time, exposed. The "
                       "ranks take turns arriving last at {collectives} collectives.">({waiting, collectives}));
    advice.timeShare = share;
    const double waitUs = c.facts.device.usPerStep(Nanoseconds(std::llround(meanWaitUs * 1000)));
    advice.whyNoPrediction = message<
        "comm.stragglers.not_predicted",
        "The trace does not show how much earlier a late rank could arrive. A rank waits {wait} per {unit} in total.">(
        {{"wait", waitUs, timeText(waitUs)}, {"unit", c.facts.device.steps.empty() ? "trace" : "step"}});
    advice.caveats = {
        message<"comm.stragglers.link", "A slow link or a throttled device also looks like a late rank: compare the "
                                        "rank's compute time before the collective.">(),
        message<"comm.stragglers.uneven_batches",
                "Batches of unequal size (sentence lengths, last batches) occasionally make any rank late.">()};
    advice.whyNoToggle = message<"comm.stragglers.no_setting",
                                 "No single setting: check what the late rank does before the collective.">();
    addEvidence(advice, c.trace, std::vector{found.worst});
    std::vector<Slice> others = use.kernels;
    std::erase_if(others, [&](const Slice& kernel) { return kernel.id == found.worst; });
    addEvidence(advice, c.trace, others);
    return advice;
}

/// Mean time per step that a rank waits for other ranks, over the ranks of a job.
double meanWaitUs(const JobAnalysis& job)
{
    double us = 0;
    for (const JobRank& rank : job.ranks)
        us += rank.waitUs / static_cast<double>(job.ranks.size());
    return us;
}

/// The answer for a job whose ranks have separate traces.
Advice onJob(const RuleContext& c)
{
    const JobAnalysis& job = c.ranks->analysis;
    if (c.ranks->ranks.size() < 2)
        return cannotTell(message<"comm.stragglers.one_rank", "Only one rank of the job has a usable trace.">(),
                          Need::Ranks);
    if (job.matched < kFewest)
        return cannotTell(message<"comm.stragglers.unmatched", "Only {collectives} collectives of the ranks match: the "
                                                               "ranks recorded other steps, or no communication.">(
                              {{"collectives", job.matched}}),
                          Need::Ranks);
    const double waitUs = meanWaitUs(job);
    const double share = job.stepUs > 0 ? waitUs / job.stepUs : 0;
    if (job.stragglers.empty())
        return silent(message<"comm.stragglers.none", "No rank delays the others beyond the jitter of all ranks; ranks "
                                                      "wait for each other {share} of the time.">(
            {{"share", share, shareText(share)}}));
    const Straggler& latest = job.stragglers.front();
    const double steps = static_cast<double>(std::max<std::size_t>(1, job.steps.size()));
    const double perStepUs = latest.lateUs * static_cast<double>(latest.steps.size()) / steps;
    Advice advice = fires(latest.reason);
    advice.timeShare = job.stepUs > 0 ? std::min(1.0, perStepUs / job.stepUs) : 0;
    advice.whyNoPrediction = message<"comm.stragglers.job_bound",
                                     "At most {late} per step, the mean delay by that rank. On average, a rank waits "
                                     "{wait} per step for other ranks.">(
        {{"late", perStepUs, timeText(perStepUs)}, {"wait", waitUs, timeText(waitUs)}});
    for (std::size_t i = 1; i < std::min<std::size_t>(job.stragglers.size(), 5); ++i)
        advice.caveats.push_back(job.stragglers[i].reason);
    if (job.stragglers.size() > 5)
        advice.caveats.push_back(message<"comm.stragglers.more", "{ranks} more ranks delay the others.">(
            {{"ranks", job.stragglers.size() - 5}}));
    advice.whyNoToggle = message<"comm.stragglers.no_setting",
                                 "No single setting: check what the late rank does before the collective.">();
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.ranks)
        return onJob(c);
    if (auto advice = withoutDeviceWork(
            c, message<"comm.cpu", "The run used only the CPU: there are no communication kernels.">()))
        return *advice;
    const CommunicationUse use = communicationUse(c);
    if (use.kernels.empty())
        return silent(message<"comm.no_kernels", "No NCCL or RCCL kernel ran.">());
    const double exposed = shareOfWindow(c, toUs(meanExposed(use.devices)));
    if (exposed < kMinimumShare)
        return silent(message<"comm.stragglers.not_exposed",
                              "Exposed communication takes only {share} of the time, including all waiting.">(
            {{"share", exposed, shareText(exposed)}}));
    const Stragglers found = stragglers(c.job ? *c.job : c.trace, analysedPart(c.facts.steps));
    if (!found.cannotTell.empty())
        return cannotTell(message<"comm.stragglers.unknown", "It is unknown which rank waits for which: {why}.">(
                              {{"why", found.cannotTell}}),
                          Need::Ranks);
    if (found.collectives < kFewest)
        return cannotTell(message<"comm.stragglers.few", "The trace contains only {collectives} collectives of several "
                                                         "ranks, which is too few to show which rank is late.">(
                              {{"collectives", found.collectives}}),
                          Need::Longer);
    const double meanWaitUs = toUs(found.waited) / static_cast<double>(found.ranks.size());
    const double share = std::min(exposed, shareOfWindow(c, meanWaitUs));
    if (share < kMinimumShare)
        return silent(message<"comm.stragglers.small", "Ranks wait for each other only {share} of the time.">(
            {{"share", share, shareText(share)}}));
    return finding(c, use, found, meanWaitUs, share);
}

} // namespace

Rule comm_stragglers()
{
    return {"comm.stragglers", "Ranks wait for a late rank", check, Needs::Steps, TimePart::Communication};
}

} // namespace advisor::rules
