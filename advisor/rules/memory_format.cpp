#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/prediction/kernel_bound.h"
#include "advisor/run_facts.h"
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

enum class Layout : std::uint8_t { Unknown, Contiguous, ChannelsLast };

/// Of four dimensions or five. A layer of one channel, or of one pixel, may be read either way.
Layout layoutOf(const std::vector<std::string>& strides)
{
    if (strides.size() != 4 && strides.size() != 5)
        return Layout::Unknown;
    const bool channels = strides[1] == "1", pixels = strides.back() == "1";
    return channels == pixels ? Layout::Unknown : channels ? Layout::ChannelsLast : Layout::Contiguous;
}

/// Of the inputs of most convolutions, by their strides. Details are read from the file one by one: some of them tell.
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
        return message<"memory_format.changes",
                       "{share} of the work is convolutions on contiguous (NCHW) tensors. Another "
                       "{changes} goes into changing the layout back and forth.">(
            {{"share", convolutions.share, shareText(convolutions.share)},
             {"changes", changes.share, shareText(changes.share)}});
    return message<"memory_format.contiguous", "{share} of the work is convolutions on contiguous (NCHW) tensors.">(
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
        promise(advice, c, bound);
    } else {
        advice.timeShare = shareOfTime(c, convolutions.share);
        advice.whyNoPrediction =
            message<"memory_format.other_kernels",
                    "Another layout runs other kernels, whose times are not in this trace: measure it.">();
    }
    advice.caveats = {
        message<"memory_format.vision", "For vision models: convolutions, pooling and batch norm. Model and "
                                        "data must both have the layout.">(),
        message<"memory_format.order", "Operations that assume the order of dimensions fail (view of a "
                                       "channels-last tensor).">()};
    setToggle(advice, c, kKey, "channels_last");
    addEvidence(advice, c.trace, changes.longest);
    addEvidence(advice, c.trace, convolutions.longest);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::memoryFormat] == "channels_last")
        return silent(message<"memory_format.on", "Model and data are channels-last already.">());
    if (c.config || !c.facts.steps.empty() || !hasDeviceWork(c.trace))
        if (auto advice = withoutSteadySteps(c))
            return *advice;
    if (!hasDeviceWork(c.trace) && !ranOnCpu(c))
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    const WorkShare convolutions = workShare(c, isConvolution);
    if (!convolutions.recorded)
        return cannotTell(
            message<"memory_format.no_work",
                    "Neither operators nor kernels were recorded: the share of convolutions is not known.">(),
            Need::Operators);
    const bool kernels = hasDeviceWork(c.trace);
    const WorkShare changes = kernels ? workShare(c, isLayoutChange) : WorkShare{};
    if (convolutions.share < kWorthTrying && (convolutions.share == 0 || changes.share < kChangesAlone))
        return silent(message<"memory_format.few", "Only {share} of the work is convolutions.">(
            {{"share", convolutions.share, shareText(convolutions.share)}}));
    const Layout layout = c.config ? Layout::Contiguous : layoutOfConvolutions(c.trace);
    if (layout == Layout::ChannelsLast)
        return silent(message<"memory_format.inputs", "The inputs of the convolutions are channels-last already.">());
    if (!c.config && changes.share < kManyChanges)
        return cannotTell(
            (layout == Layout::Contiguous
                 ? message<"memory_format.no_changes",
                           "Tensors are contiguous, but no kernel changes the layout for the convolutions: "
                           "whether kernels for another layout are faster is not in this trace.">()
                 : message<"memory_format.unrecorded", "The trace does not record the layout of tensors.">()),
            Need::Measurement);
    return finding(c, convolutions, changes);
}

} // namespace

Rule memory_format()
{
    return proposing("channels_last",
                     {kKey, "Convolutions run on contiguous tensors", check, Needs::Steps, TimePart::Kernels});
}

} // namespace advisor::rules
