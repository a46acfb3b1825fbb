#include "advisor/communication_use.h"
#include "advisor/gpu_facts.h"
#include "advisor/normal_interval.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/judged_steps.h"
#include "profiler/analysis/stragglers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Of the time, a rank's waiting that no computing hides: below, nobody would miss it.
constexpr double kWorthFixing = 0.05;
// Fewer collectives do not show who is late.
constexpr std::int64_t kFewest = 8;
// As often last as by chance, times.
constexpr double kOftenLast = 1.5;

double shareOfWindow(const Case& c, double us)
{
    const double all = toUs(c.facts.device.windowTime());
    return all > 0 ? us / all : 0;
}

/// The rank that is last much more often than chance would have it; null: they take turns.
const RankArrival* lateRank(const Stragglers& found)
{
    const auto late = std::max_element(found.ranks.begin(), found.ranks.end(),
                                       [](const RankArrival& a, const RankArrival& b) { return a.last < b.last; });
    const double fair = 1 / static_cast<double>(found.ranks.size());
    const ShareInterval share = shareInterval(static_cast<double>(late->last), static_cast<double>(found.collectives));
    return share.mid >= kOftenLast * fair && share.low > fair ? &*late : nullptr;
}

Advice finding(const Case& c, const CommunicationUse& use, const Stragglers& found, double meanWaitUs, double share)
{
    const RankArrival* late = lateRank(found);
    const std::string who = late ? fmt::format("that of device {} comes last to {} of {} of them", late->device.value,
                                               countText(static_cast<double>(late->last)),
                                               countText(static_cast<double>(found.collectives)))
                                 : fmt::format("they take turns in coming last to the {} of them",
                                               countText(static_cast<double>(found.collectives)));
    Advice advice = fires(fmt::format("Ranks wait for each other in collectives, {} of the time on the mean, and no "
                                      "computing hides it; {}.",
                                      shareText(share), who));
    advice.concerns = share;
    advice.whyNoPrediction =
        fmt::format("How much earlier a late rank could come is not in the trace. All waiting together is {} a {} and "
                    "rank.",
                    timeText(c.facts.device.usPerStep(Nanoseconds(std::llround(meanWaitUs * 1000)))),
                    c.facts.device.steps.empty() ? "trace" : "step");
    advice.caveats = {"A slow link or a device that throttles looks like a late rank: compare what it computed before.",
                      "Batches of unequal size (lengths of sentences, last batches) make each rank late now and then."};
    advice.whyNoToggle = "No single setting: look at what the late rank does before the collective.";
    addEvidence(advice, c.trace, std::vector{found.worst});
    std::vector<Slice> others = use.kernels;
    std::erase_if(others, [&](const Slice& kernel) { return kernel.id == found.worst; });
    addEvidence(advice, c.trace, others);
    return advice;
}

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: no communication kernels."))
        return *advice;
    const CommunicationUse use = communicationUse(c);
    if (use.kernels.empty())
        return silent("No kernel of NCCL or RCCL ran.");
    const double exposed = shareOfWindow(c, toUs(meanExposed(use.devices)));
    if (exposed < kWorthFixing)
        return silent(fmt::format("Communication that no computing hides takes only {} of the time, whoever waits.",
                                  shareText(exposed)));
    const Stragglers found = stragglers(c.trace, judgedPart(c.facts.steps));
    if (!found.cannotTell.empty())
        return cannotTell(fmt::format("Who waits for whom is not known: {}.", found.cannotTell));
    if (found.collectives < kFewest)
        return cannotTell(fmt::format("{} collective{} of several ranks do{} not show who is late.", found.collectives,
                                      found.collectives == 1 ? "" : "s", found.collectives == 1 ? "es" : ""));
    const double meanWaitUs = toUs(found.waited) / static_cast<double>(found.ranks.size());
    const double share = std::min(exposed, shareOfWindow(c, meanWaitUs));
    if (share < kWorthFixing)
        return silent(fmt::format("Ranks wait for each other only {} of the time.", shareText(share)));
    return finding(c, use, found, meanWaitUs, share);
}

} // namespace

Rule comm_stragglers()
{
    return {"comm.stragglers", "Ranks wait for a late one", check};
}

} // namespace advisor::rules
