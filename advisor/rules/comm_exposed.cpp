#include "advisor/communication_use.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Of the step. Source: PyTorch's TensorBoard plug-in advises from a tenth on.
constexpr double kWorthFixing = 0.1;

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: no communication kernels."))
        return *advice;
    const CommunicationUse use = communicationUse(c);
    if (use.kernels.empty())
        return silent("No kernel of NCCL or RCCL ran.");
    const Nanoseconds exposed = meanExposed(use.devices);
    const double exposedUs = c.facts.device.usPerStep(exposed);
    const double share = static_cast<double>(exposed.count()) /
                         static_cast<double>(std::max<std::int64_t>(1, c.facts.device.windowTime().count()));
    if (share < kWorthFixing)
        return silent(
            fmt::format("Communication that no computing hides takes only {} of the time.", shareText(share)));
    Advice advice =
        fires(fmt::format("{} of the time is communication that no computing hides; {} of all communication is "
                          "overlapped.",
                          shareText(share), shareText(overlapOf(use.devices))));
    advice.concerns = share;
    if (c.facts.device.steps.size() > 1)
        advice.saving = spreadOverSteps(exposedInEachStep(c, use.devices));
    else
        advice.whyNoPrediction =
            fmt::format("At most {}; without several steps the spread is not known.", timeText(exposedUs));
    advice.caveats = {
        "The saving is what perfect overlap would hide; buckets, accumulation and faster links each reach a part."};
    advice.whyNoToggle = "No single setting: see parallel.kind and gradient.accumulation.";
    addEvidence(advice, c.trace, use.kernels);
    return advice;
}

} // namespace

Rule comm_exposed()
{
    return {"comm.exposed", "Computing waits for communication", check};
}

} // namespace advisor::rules
