#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/kernel_class.h"
#include "profiler/analysis/slice_queries.h"

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
Runs findRuns(const Case& c)
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

Advice check(const Case& c)
{
    if (setting(c, kKey) == "true")
        return silent("Pointwise operators are fused already.");
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU, where the fuser makes no kernels."))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    if (work.all.count == 0)
        return cannotTell("No kernels were recorded.");
    const double every = work.share(KernelClass::Elementwise);
    if (every < kWorthFusing)
        return silent(fmt::format("Elementwise kernels are only {} of kernel time.", shareText(every)));
    const Runs runs = findRuns(c);
    const double share = work.share(runs.elementwise);
    if (share < kWorthFusing)
        return silent(fmt::format("Elementwise kernels are {} of kernel time; {} are fused ones already.",
                                  shareText(every), shareText(every - share)));
    if (runs.count == 0)
        return silent("Elementwise kernels stand alone between others: there is nothing beside them to fuse with.");
    Advice advice =
        fires(fmt::format("Elementwise kernels are {} of kernel time; {} of them follow each other in {} runs, "
                          "each reading and writing its tensors anew.",
                          shareText(share), countText(runs.kernels), countText(runs.count)));
    advice.concerns = shareOfTime(c, share);
    advice.whyNoPrediction = fmt::format(
        "Which neighbours work on the same elements is not recorded. Were each run as fast as its longest kernel, "
        "{} of {} kernel time would go.",
        timeText(toUs(runs.beyondLongest)), timeText(toUs(work.all.time)));
    advice.caveats = {"The first calls compile: judge it after the warm-up.", "Changing shapes compile again."};
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
    return {kKey, "Elementwise kernels could be fused", check};
}

} // namespace advisor::rules
