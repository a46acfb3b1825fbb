#include "advisor/gpu_facts.h"
#include "advisor/launch_bound.h"
#include "advisor/numbers.h"
#include "advisor/replay_saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

constexpr std::string_view kKey = "compile";
// A graph replays kernels without the host: it helps where they are shorter than their launch, about ten microseconds.
constexpr double kManySmall = 0.3;
constexpr double kMostly = 0.5;

/// What a graph leaves of the host's work: waits and data stay; forward and backward pass go, or, where the trace does
/// not mark these, everything. What is captured beyond them depends on the program.
ReplayChange captured(const ReplayWork& work, bool everything)
{
    const bool passes = work.phase == profiler::phase::kForward || work.phase == profiler::phase::kBackward;
    const bool stays = work.where != ReplayWork::Where::Host || work.waits ||
                       work.phase == profiler::phase::kDataWait || !(everything || passes || work.phase.empty());
    return {.factor = stays ? 1.0 : 0.0};
}

/// What replays without the captured work save, and no more than the gaps in which the device waits for launches: what
/// the host does else between them, and no event records, need not be in the graph.
std::optional<Saving> saving(const Case& c, const profiler::analysis::Intervals& launchGaps)
{
    const std::optional<Saving> replayed = savingByReplay(
        c, [](const ReplayWork& work) { return captured(work, false); },
        [](const ReplayWork& work) { return captured(work, true); });
    if (c.facts.device.steps.size() < 2)
        return replayed;
    const Saving gaps = spreadOverSteps(insideEachStep(c, launchGaps));
    if (!replayed || replayed->mid <= 0)
        return gaps;
    return perStep(std::min(replayed->low, gaps.low), std::min(replayed->mid, gaps.mid),
                   std::min(replayed->high, gaps.high));
}

Advice check(const Case& c)
{
    if (setting(c, kKey) == "true")
        return silent("The step is compiled already.");
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU, where a step cannot be captured as a CUDA graph."))
        return *advice;
    if (c.facts.device.work.all.count == 0)
        return cannotTell("No kernels were recorded.");
    if (!recordsTheHost(c.trace))
        return cannotTell("The trace holds nothing of the host: whether the device waits for launches cannot be told.");
    if (const double share = graphShare(c); share >= kMostly)
        return silent(
            fmt::format("{} of the kernels run in a CUDA graph already, many with one launch.", shareText(share)));
    const LaunchBound bound = launchBound(c);
    if (!bound.holds())
        return silent(fmt::format("The device waits for launches only {} of the time.", shareText(bound.launchShare)));
    if (bound.smallShare < kManySmall)
        return silent(
            fmt::format("Only {} of the kernels are shorter than 10 µs: the device waits for the host, but not for "
                        "many small launches. See host.bound.",
                        shareText(bound.smallShare)));
    if (isCompiled(c.trace))
        return cannotTell("The device waits for launches, and the program is compiled already (Torch-Compiled Region): "
                          "whether a CUDA graph of it (mode=\"reduce-overhead\") helps is not in this trace.");
    Advice advice =
        fires(fmt::format("{} of the kernels are shorter than 10 µs, and the device idles {} of the time while the "
                          "host launches the next one.",
                          shareText(bound.smallShare), shareText(bound.launchShare)));
    advice.concerns = bound.launchShare;
    advice.saving = saving(c, bound.cause->where);
    if (!advice.saving)
        advice.whyNoPrediction = "One step does not show how much the gaps vary.";
    advice.caveats = {"Shapes must stay the same, and the step must not read values back.",
                      "It may fail on a model; it then runs uncompiled and says why. The first steps compile."};
    setToggle(advice, c, kKey, "true");
    advice.evidence = longestGaps(c, *bound.cause);
    return advice;
}

} // namespace

Rule compile()
{
    return {kKey, "The device waits for many small launches", check};
}

} // namespace advisor::rules
