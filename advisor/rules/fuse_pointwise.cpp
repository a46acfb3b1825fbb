#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/prediction/kernel_bound.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/kernel_class.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "fuse.pointwise";
// Of kernel time: elementwise kernels are a tenth or two of any network; a quarter is more than its activations.
constexpr double kWorthFusing = 0.25;

/// Elementwise kernels that follow each other on their stream with no other kernel between.
struct Run {
    std::size_t first = 0, count = 0; ///< in the stream's kernels
    Nanoseconds time{}, longest{};
};

struct Runs {
    Nanoseconds elementwise{};   ///< of all elementwise kernels that nothing fused yet
    Nanoseconds time{};          ///< of all kernels in runs of at least two
    Nanoseconds beyondLongest{}; ///< of that, without the longest of each run: what one fused kernel would not do again
    std::int64_t count = 0, kernels = 0;
    std::vector<SliceBrief> longestRuns; ///< first kernel of each, with the run's duration
};

/// What Inductor and the TorchScript fuser made of several operators.
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

/// Those of the judged window, as the share of kernel time beside which they stand.
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
        return silent(message<"fuse.pointwise.on", "Pointwise operators are fused already.">());
    if (auto advice = withoutDeviceWork(
            c, message<"fuse.pointwise.cpu", "The run was on the CPU, where the fuser makes no kernels.">()))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    if (work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    const double every = work.share(KernelClass::Elementwise);
    if (every < kWorthFusing)
        return silent(message<"fuse.pointwise.few", "Only {share} of the kernel time is elementwise kernels.">(
            {{"share", every, shareText(every)}}));
    const Runs runs = findRuns(c);
    const double share = work.share(runs.elementwise);
    if (share < kWorthFusing)
        return silent(message<"fuse.pointwise.fused",
                              "{share} of the kernel time is elementwise kernels; {fused} are fused already.">(
            {{"share", every, shareText(every)}, {"fused", every - share, shareText(every - share)}}));
    if (runs.count == 0)
        return silent(
            message<"fuse.pointwise.alone", "No elementwise kernel has a neighbour that it could be fused with.">());
    const KernelBound bound =
        boundByKernels(c, [](std::string_view kernel) { return isElementwiseKernel(kernel) ? 0.0 : 1.0; });
    if (!bound.matters())
        return offTheCriticalPath(bound);
    Advice advice = fires(message<"fuse.pointwise.runs",
                                  "{share} of the kernel time is elementwise kernels; {kernels} of them follow each "
                                  "other in {runs} runs, each reading and writing its tensors anew.">(
        {{"share", share, shareText(share)},
         {"kernels", runs.kernels, countText(static_cast<double>(runs.kernels))},
         {"runs", runs.count, countText(static_cast<double>(runs.count))}}));
    promise(advice, c, bound);
    advice.caveats = {message<"fuse.pointwise.longest",
                              "Which neighbours work on the same elements is not recorded. If each run took "
                              "as long as its longest kernel, {time} of {all} kernel time would go.">(
                          {{"time", toUs(runs.beyondLongest), timeText(toUs(runs.beyondLongest))},
                           {"all", toUs(work.all.time), timeText(toUs(work.all.time))}}),
                      message<"fuse.pointwise.compiles", "The first calls compile: judge it after the warm-up.">(),
                      message<"fuse.pointwise.shapes", "Each new shape compiles again.">()};
    setToggle(advice, c, kKey, "true");
    for (const SliceBrief& run : runs.longestRuns)
        if (advice.evidence.size() < kMostEvidence)
            advice.evidence.push_back({.track = run.id.track,
                                       .slice = std::nullopt,
                                       .range = run.range(),
                                       .name = fmt::format("{} and what follows", c.trace.string(run.name))});
    return advice;
}

} // namespace

Rule fuse_pointwise()
{
    return {kKey, "Elementwise kernels could be fused", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
