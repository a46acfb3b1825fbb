#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "memory_format";
// Under a fifth of the work, what the other operators lose by the layout may outweigh what convolutions win.
constexpr double kWorthTrying = 0.2;
// Of kernel time, in changes of the layout: less comes from single layers whose library wants another one.
constexpr double kManyChanges = 0.01;
// From here on the changes alone are worth it, however little the convolutions themselves take.
constexpr double kChangesAlone = 0.05;

/// cuDNN's kernels and MIOpen's.
bool isLayoutChange(std::string_view kernel)
{
    return kernel.find("nchwToNhwc") != kernel.npos || kernel.find("nhwcToNchw") != kernel.npos ||
           kernel.starts_with("batched_transpose_");
}

Advice finding(const Case& c, const WorkShare& convolutions, const WorkShare& changes)
{
    Advice advice =
        fires(fmt::format("Convolutions are {} of the work and their tensors lie channel by channel (contiguous).",
                          shareText(convolutions.share)));
    if (changes.share > 0)
        advice.reason +=
            fmt::format(" {} more goes into changing the layout back and forth.", shareText(changes.share));
    advice.concerns = shareOfTime(c, convolutions.share);
    advice.whyNoPrediction = "Another layout runs other kernels, whose times are not in this trace: measure it.";
    advice.caveats = {
        "For vision models: convolutions, pooling and batch norm. Model and data must both have the layout.",
        "Operations that are hard-coded on the order of dimensions fail (view of a channels-last tensor)."};
    setToggle(advice, c, kKey, "channels_last");
    addEvidence(advice, c.trace, changes.longest);
    addEvidence(advice, c.trace, convolutions.longest);
    return advice;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::memoryFormat] == "channels_last")
        return silent("Model and data are channels-last already.");
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const WorkShare convolutions = workShare(c, isConvolution);
    if (!convolutions.recorded)
        return cannotTell("Neither operators nor kernels were recorded: the share of convolutions is not known.");
    const bool kernels = hasDeviceWork(c.trace);
    const WorkShare changes = kernels ? workShare(c, isLayoutChange) : WorkShare{};
    if (convolutions.share < kWorthTrying && (convolutions.share == 0 || changes.share < kChangesAlone))
        return silent(fmt::format("Convolutions are only {} of the work.", shareText(convolutions.share)));
    if (!c.config && changes.share < kManyChanges)
        return cannotTell("The trace does not record the layout of tensors.");
    return finding(c, convolutions, changes);
}

} // namespace

Rule memory_format()
{
    return {kKey, "Convolutions run on contiguous tensors", check};
}

} // namespace advisor::rules
