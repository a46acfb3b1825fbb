#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace advisor::rules {
namespace {

using profiler::Message;
using profiler::message;

constexpr std::string_view kKey = "memory_format";
// Minimum share of the work: below 20 %, other operators may lose more from the layout than convolutions gain.
constexpr double kMinimumShare = 0.2;
// Minimum share of kernel time spent on layout changes: less comes from single layers whose library needs another
// layout.
constexpr double kManyChanges = 0.01;
// From this share on, the layout changes alone justify the finding, however little time the convolutions themselves
// take.
constexpr double kChangesAlone = 0.05;

/// Layout-change kernels of cuDNN and MIOpen.
bool isLayoutChange(std::string_view kernel)
{
    return kernel.find("nchwToNhwc") != kernel.npos || kernel.find("nhwcToNchw") != kernel.npos ||
           kernel.starts_with("batched_transpose_");
}

enum class Layout : std::uint8_t { Unknown, Contiguous, ChannelsLast };

/// Requires four or five dimensions. Strides are ambiguous for one channel or one pixel.
Layout layoutOf(const std::vector<std::string>& strides)
{
    if (strides.size() != 4 && strides.size() != 5)
        return Layout::Unknown;
    const bool channels = strides[1] == "1", pixels = strides.back() == "1";
    return channels == pixels ? Layout::Unknown : channels ? Layout::ChannelsLast : Layout::Contiguous;
}

/// Layout of the inputs of most convolutions, derived from their strides. Details are read from the file one at a time,
/// so only some are read.
Layout layoutOfConvolutions(const profiler::Trace& trace)
{
    constexpr std::size_t kMostRead = 32;
    const auto convolutions = profiler::analysis::ofKindNamed(
        trace, profiler::ActivityKind::CpuOp, [](std::string_view name) { return name == "aten::_convolution"; });
    const std::size_t every = std::max<std::size_t>(1, convolutions.size() / kMostRead);
    std::size_t contiguous = 0, channelsLast = 0;
    for (std::size_t i = 0; i < convolutions.size(); i += every) {
        const auto inputs = listEntries(detail(trace, convolutions[i].id, "Input Strides"));
        const Layout layout = inputs.empty() ? Layout::Unknown : layoutOf(listEntries(inputs.front()));
        contiguous += layout == Layout::Contiguous ? 1 : 0;
        channelsLast += layout == Layout::ChannelsLast ? 1 : 0;
    }
    return contiguous + channelsLast == 0 ? Layout::Unknown
           : channelsLast > contiguous    ? Layout::ChannelsLast
                                          : Layout::Contiguous;
}

Message reasonOf(const WorkShare& convolutions, const WorkShare& changes)
{
    if (changes.share > 0)
        return message<"memory_format.changes", "Convolutions on contiguous (NCHW) tensors take {share} of the work. "
                                                "Converting between layouts takes another {changes}.">(
            {{"share", convolutions.share, shareText(convolutions.share)},
             {"changes", changes.share, shareText(changes.share)}});
    return message<"memory_format.contiguous", "Convolutions on contiguous (NCHW) tensors take {share} of the work.">(
        {{"share", convolutions.share, shareText(convolutions.share)}});
}

Advice finding(const RuleContext& c, const WorkShare& convolutions, const WorkShare& changes)
{
    Advice advice = fires(reasonOf(convolutions, changes));
    if (c.facts.device.work.all.count > 0) {
        const KernelBound bound = boundByKernels(
            c, [](std::string_view kernel) { return isConvolution(kernel) || isLayoutChange(kernel) ? 0.0 : 1.0; });
        if (!bound.matters())
            return offTheCriticalPath(bound);
        setBound(advice, c, bound);
    } else {
        advice.timeShare = shareOfTime(c, convolutions.share);
        advice.whyNoPrediction =
            message<"memory_format.other_kernels",
                    "Another layout runs other kernels, whose times are not in this trace: measure it.">();
    }
    advice.caveats = {
        message<
            "memory_format.vision",
            "For vision models with convolutions, pooling and batch norm. Model and data must both use the layout.">(),
        message<
            "memory_format.order",
            "Operations that assume the order of dimensions fail (for example, view of a channels-last tensor).">()};
    setToggle(advice, c, kKey, "channels_last");
    addEvidence(advice, c.trace, changes.longest);
    addEvidence(advice, c.trace, convolutions.longest);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::memoryFormat] == "channels_last")
        return silent(message<"memory_format.on", "Model and data already use channels-last.">());
    if (c.config || !c.facts.steps.empty() || !hasDeviceWork(c.trace))
        if (auto advice = withoutSteadySteps(c))
            return *advice;
    if (!hasDeviceWork(c.trace) && !ranOnCpu(c))
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    const WorkShare convolutions = workShare(c, isConvolution);
    if (!convolutions.recorded)
        return cannotTell(
            message<"memory_format.no_work",
                    "Neither operators nor kernels were recorded: the share of convolutions is unknown.">(),
            Need::Operators);
    const bool kernels = hasDeviceWork(c.trace);
    const WorkShare changes = kernels ? workShare(c, isLayoutChange) : WorkShare{};
    if (convolutions.share < kMinimumShare && (convolutions.share == 0 || changes.share < kChangesAlone))
        return silent(message<"memory_format.few", "Convolutions take only {share} of the work.">(
            {{"share", convolutions.share, shareText(convolutions.share)}}));
    const Layout layout = c.config ? Layout::Contiguous : layoutOfConvolutions(c.trace);
    if (layout == Layout::ChannelsLast)
        return silent(message<"memory_format.inputs", "The inputs of the convolutions are already channels-last.">());
    if (!c.config && changes.share < kManyChanges)
        return cannotTell(
            (layout == Layout::Contiguous
                 ? message<"memory_format.no_changes",
                           "Tensors are contiguous, but no kernel converts the layout for the convolutions: the trace "
                           "does not show whether kernels for another layout are faster.">()
                 : message<"memory_format.unrecorded", "The trace does not record the layout of tensors.">()),
            Need::Measurement);
    return finding(c, convolutions, changes);
}

} // namespace

Rule memory_format()
{
    return proposing("channels_last",
                     {kKey, "Convolutions use contiguous (NCHW) tensors", check, Needs::Steps, TimePart::Kernels});
}

} // namespace advisor::rules
