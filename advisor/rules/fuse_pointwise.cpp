#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "fuse.pointwise";
// Minimum share of kernel time: in most networks, elementwise kernels take 10 to 20 %; 25 % is more than the activation
// functions alone.
constexpr double kMinimumShare = 0.25;

/// Consecutive elementwise kernels of a stream, without another kernel in between.
struct Run {
    std::size_t first = 0, count = 0; ///< index and number in the stream's kernels
    Nanoseconds time{}, longest{};
};

struct Runs {
    Nanoseconds elementwise{};   ///< all elementwise kernels that are not fused yet
    Nanoseconds time{};          ///< all kernels in runs of at least two
    Nanoseconds beyondLongest{}; ///< that time without the longest kernel of each run: the time that one fused kernel
                                 ///< would save
    std::int64_t count = 0, kernels = 0;
    std::vector<SliceBrief> longestRuns; ///< first kernel of each run, with the run's duration
};

/// A kernel that Inductor or the TorchScript fuser generated from several operators.
bool isFused(std::string_view name)
{
    return name.starts_with("triton_") || name.starts_with("fused_");
}

bool isElementwiseKernel(std::string_view name)
{
    return kernelClass(name) == KernelClass::Elementwise && !isFused(name);
}

void addRun(Runs& runs, const std::vector<SliceBrief>& kernels, const Run& run)
{
    if (run.count < 2)
        return;
    ++runs.count;
    runs.kernels += static_cast<std::int64_t>(run.count);
    runs.time += run.time;
    runs.beyondLongest += run.time - run.longest;
    SliceBrief whole = kernels[run.first];
    whole.duration = run.time;
    runs.longestRuns.push_back(whole);
}

/// Runs of the analysis window, the same window to which the shares of kernel time refer.
Runs findRuns(const RuleContext& c)
{
    Runs runs;
    NameAnswers isElementwise(c.trace, isElementwiseKernel);
    for (const Track& track : c.trace.tracks()) {
        if (track.kind != TrackKind::Stream)
            continue;
        std::vector<SliceBrief> kernels = kernelsOf(c.trace, track.id);
        std::erase_if(kernels,
                      [&](const SliceBrief& kernel) { return !beginsWithin(kernel.begin, c.facts.device.window); });
        Run run;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            if (isElementwise(kernels[i].name)) {
                if (run.count++ == 0)
                    run.first = i;
                run.time += kernels[i].duration;
                runs.elementwise += kernels[i].duration;
                run.longest = std::max(run.longest, kernels[i].duration);
                continue;
            }
            addRun(runs, kernels, run);
            run = {};
        }
        addRun(runs, kernels, run);
    }
    std::stable_sort(runs.longestRuns.begin(), runs.longestRuns.end(),
                     [](const SliceBrief& a, const SliceBrief& b) { return a.duration > b.duration; });
    return runs;
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"fuse.pointwise.on", "Pointwise operators are already fused.">());
    if (auto advice = withoutDeviceWork(
            c, message<"fuse.pointwise.cpu", "The run was on the CPU, where the fuser generates no kernels.">()))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    if (work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    const double every = work.share(KernelClass::Elementwise);
    if (every < kMinimumShare)
        return silent(message<"fuse.pointwise.few", "Elementwise kernels take only {share} of kernel time.">(
            {{"share", every, shareText(every)}}));
    const Runs runs = findRuns(c);
    const double share = work.share(runs.elementwise);
    if (share < kMinimumShare)
        return silent(message<"fuse.pointwise.fused",
                              "Elementwise kernels take {share} of kernel time; {fused} are already fused.">(
            {{"share", every, shareText(every)}, {"fused", every - share, shareText(every - share)}}));
    if (runs.count == 0)
        return silent(message<"fuse.pointwise.alone",
                              "No elementwise kernel follows another one that it could be fused with.">());
    const KernelBound bound =
        boundByKernels(c, [](std::string_view kernel) { return isElementwiseKernel(kernel) ? 0.0 : 1.0; });
    if (!bound.matters())
        return offTheCriticalPath(bound);
    Advice advice = fires(
        message<"fuse.pointwise.runs", "Elementwise kernels take {share} of kernel time; {kernels} of them run back to "
                                       "back in {runs} runs, and each reads and writes its tensors in memory.">(
            {{"share", share, shareText(share)},
             {"kernels", runs.kernels, countText(static_cast<double>(runs.kernels))},
             {"runs", runs.count, countText(static_cast<double>(runs.count))}}));
    setBound(advice, c, bound);
    advice.caveats = {message<"fuse.pointwise.longest",
                              "The trace does not record which neighbors work on the same elements. If each run took "
                              "as long as its longest kernel, {time} of {all} kernel time would be saved.">(
                          {{"time", toUs(runs.beyondLongest), timeText(toUs(runs.beyondLongest))},
                           {"all", toUs(work.all.time), timeText(toUs(work.all.time))}}),
                      message<"fuse.pointwise.compiles", "The first calls compile: measure after the warm-up.">(),
                      message<"fuse.pointwise.shapes", "Each new shape is compiled again.">()};
    setToggle(advice, c, kKey, "true");
    for (const SliceBrief& run : runs.longestRuns)
        if (advice.evidence.size() < kMostEvidence)
            advice.evidence.push_back({.track = run.id.track,
                                       .slice = std::nullopt,
                                       .range = run.range(),
                                       .name = fmt::format("{} and following", c.trace.string(run.name))});
    return advice;
}

} // namespace

Rule fuse_pointwise()
{
    return {kKey, "Elementwise kernels could be fused", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
