#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/model/message.h"

#include <optional>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;
using profiler::message;

constexpr std::string_view kKey = "compile";
// Minimum share of kernels that are shorter than a launch (about 10 µs): a CUDA graph launches all kernels at once,
// which helps if there are many short ones. Chosen: below three in ten, the longer kernels hide the launches of the
// short ones.
constexpr double kManySmall = 0.3;
// Share of kernels launched by CUDA graphs. Chosen: the majority; the other kernels are the part that was not captured.
constexpr double kMostly = 0.5;

/// The change that a CUDA graph makes to host work: waits and data loading stay; the forward and backward pass
/// disappear, or everything if the trace does not mark them. How much more is captured depends on the program.
ReplayChange captured(const ReplayWork& work, bool everything)
{
    const bool passes = work.phase == profiler::phase::kForward || work.phase == profiler::phase::kBackward;
    const bool stays = work.where != ReplayWork::Where::Host || work.waits ||
                       work.phase == profiler::phase::kDataWait || !(everything || passes || work.phase.empty());
    return {.factor = stays ? 1.0 : 0.0};
}

/// The time that replaying the trace without the captured work saves, limited to the gaps in which the device waits for
/// launches: other host work between launches, which no event records, may not be part of the graph.
std::optional<Saving> saving(const RuleContext& c)
{
    if (c.facts.device.steps.empty())
        return std::nullopt;
    // How much of the host's time is the profiler's is unknown, and so is how much of it a graph captures.
    if (slowedByProfiler(c))
        return upperBoundOverSteps(idleForHost(c));
    const Saving gaps = upperBoundOverSteps(c.facts.device.idleInEachStep({"launch"}));
    const std::optional<Saving> replayed = savingByReplay(
        c, [](const ReplayWork& work) { return captured(work, false); },
        [](const ReplayWork& work) { return captured(work, true); });
    return replayed && replayed->mid > 0 ? limited(*replayed, gaps.high) : gaps;
}

/// The reason not to fire, or why it is unknown; no value if the device waits for many short launches.
std::optional<Advice> hindrance(const RuleContext& c, const LaunchBound& bound)
{
    const double graphs = graphShare(c);
    if (graphs >= kMostly || (graphs > 0 && capturesGraphs(c.trace)))
        return silent(message<"compile.graphs", "{share} of the kernels already run in CUDA graphs, many per launch.">(
            {{"share", graphs, shareText(graphs)}}));
    if (bound.isQueueFull())
        return silentBecauseOfQueue(bound);
    if (!bound.holds())
        return silent(message<"compile.rarely", "The GPU waits for launches only {share} of the time.">(
            {{"share", bound.launchShare, shareText(bound.launchShare)}}));
    if (auto advice = withoutEnoughKernels(c, bound))
        return advice;
    if (bound.smallShare < kManySmall)
        return silent(
            message<"compile.long_kernels", "Only {share} of the kernels are shorter than 10 µs: the GPU waits "
                                            "for the CPU, but not for many small launches. See host.bound.">(
                {{"share", bound.smallShare, shareText(bound.smallShare)}}));
    if (isCompiled(c.trace))
        return cannotTell(
            message<"compile.compiled",
                    "The GPU waits for launches although the program is compiled (Torch-Compiled Region). The trace "
                    "does not show whether CUDA graphs (mode=\"reduce-overhead\") would help.">(),
            Need::Measurement);
    return std::nullopt;
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"compile.on", "The step is already compiled.">());
    if (auto advice = withoutDeviceWork(
            c, message<"compile.cpu", "The run was on the CPU, where a step cannot be captured as a CUDA graph.">()))
        return *advice;
    if (c.facts.device.work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    if (!recordsHost(c.trace))
        return cannotTell(
            message<"compile.no_host",
                    "The trace does not record the CPU: whether the GPU waits for launches is unknown.">(),
            Need::KernelsAndHost);
    const LaunchBound bound = launchBound(c);
    if (auto advice = hindrance(c, bound))
        return *advice;
    Advice advice = fires(
        message<"compile.small_kernels", "{small} of the kernels are shorter than 10 µs, and the GPU idles {share} of "
                                         "the time with an empty launch queue while the CPU launches the next kernel.">(
            {{"small", bound.smallShare, shareText(bound.smallShare)},
             {"share", bound.launchShare, shareText(bound.launchShare)}}));
    advice.timeShare = bound.launchShare;
    advice.saving = saving(c);
    if (!advice.saving)
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    advice.caveats = {message<"compile.constant_shapes",
                              "Shapes must stay the same, and the step must not read values back to the CPU.">(),
                      message<"compile.may_fail", "If a model cannot be compiled, it runs uncompiled and the log says "
                                                  "why. The first steps include compilation.">()};
    if (slowedByProfiler(c))
        advice.caveats.push_back(profilerSlowsHost());
    setToggle(advice, c, kKey, "true");
    advice.evidence = longestGaps(c, *bound.cause);
    return advice;
}

} // namespace

Rule compile()
{
    return {kKey, "CPU cannot launch small kernels fast enough", check, Needs::Steps, TimePart::Launch};
}

} // namespace advisor::rules
