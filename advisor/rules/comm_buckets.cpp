#include "advisor/communication_use.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// A bucketed exchange takes about one kernel for every 25 MB of gradients; one for each parameter are dozens.
constexpr double kManyAStep = 40;
// Of the communication, hidden by computing: below, it might as well not overlap at all.
constexpr double kOverlapped = 0.1;

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: no communication kernels."))
        return *advice;
    const CommunicationUse use = communicationUse(c);
    std::vector<SliceId> kernels;
    std::vector<double> us;
    for (const Slice& kernel : use.kernels) {
        us.push_back(toUs(kernel.duration));
        kernels.push_back(kernel.id);
    }
    if (kernels.empty())
        return silent("No kernel of NCCL or RCCL ran.");
    if (c.facts.device.steps.empty())
        return cannotTell("The trace has no step marks: how many exchanges a step makes is not known.");
    const double devices = static_cast<double>(std::max<std::size_t>(1, use.devices.size()));
    const double aStep =
        static_cast<double>(kernels.size()) / static_cast<double>(c.facts.device.steps.size()) / devices;
    const double overlap = use.overlap();
    if (aStep < kManyAStep)
        return silent(fmt::format("A step exchanges gradients in {} kernels.", countText(aStep)));
    if (overlap >= kOverlapped)
        return silent(fmt::format("{} of the communication is hidden by computing.", shareText(overlap)));
    Advice advice = fires(
        fmt::format("A step exchanges gradients in {} small kernels (median {}), none of them beside computing: one "
                    "for each parameter, after backward.",
                    countText(aStep), timeText(percentile(us, 0.5))));
    if (c.facts.device.steps.size() > 1)
        advice.saving = spreadOverSteps(exposedInEachStep(c, use.devices));
    else
        advice.whyNoPrediction = "One step does not show how much it varies.";
    advice.caveats = {"The saving is what perfect overlap would hide; the last bucket always sticks out."};
    setToggle(advice, c, "parallel.kind", "ddp");
    addEvidence(advice, c.trace, kernels);
    return advice;
}

} // namespace

Rule comm_buckets()
{
    return {"comm.buckets", "Gradients are exchanged one by one", check};
}

} // namespace advisor::rules
