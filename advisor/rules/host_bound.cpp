#include "advisor/gpu_facts.h"
#include "advisor/launch_bound.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

/// All that the finding's share sums: gaps while the host launches and while it does what no event records. Of one
/// device, since each cause holds those of the device with most of them.
IdleCause hostGaps(const Case& c, const IdleCause& cause)
{
    IdleCause gaps = cause;
    for (const IdleCause& other : c.facts.device.idle)
        if ((other.cause == "launch" || other.cause == "other") && other.cause != cause.cause &&
            other.device == cause.device) {
            gaps.where = unite(std::move(gaps.where), other.where);
            gaps.cause = "host";
        }
    return gaps;
}

/// Between launches the host computes; where it hardly launches, it may as well have nothing to do. Only steps whose
/// operators are recorded say that a training went on; a server has requests to wait for.
bool mayHaveHadNothingToDo(const Case& c, const LaunchBound& bound)
{
    return bound.marksSteps ? bound.launchShare < LaunchBound::kPart && !hasKind(c.trace, profiler::ActivityKind::CpuOp)
                            : !bound.byLaunches();
}

/// What is said to be the host's: within steps what no event records, too.
Advice finding(const LaunchBound& bound)
{
    Advice advice =
        bound.marksSteps
            ? fires(fmt::format("The device idles {} of the time while the host runs operators, launches work or does "
                                "what no event records{}.",
                                shareText(bound.hostShare),
                                bound.isFirstCause() ? ": the step is bound by the host"
                                                     : "; it idles longer for something else"))
            : fires(fmt::format("The device idles {} of the time while the host runs operators or launches work. The "
                                "trace marks no steps: this is so whatever the program does, training or not.",
                                shareText(bound.launchShare)));
    advice.concerns = bound.marksSteps ? bound.hostShare : bound.launchShare;
    return advice;
}

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: there is no device to wait for the host."))
        return *advice;
    if (c.facts.device.work.all.count == 0)
        return cannotTell("No kernels were recorded.");
    const LaunchBound bound = launchBound(c);
    if (!recordsTheHost(c.trace))
        return cannotTell("The trace holds nothing of the host: why the device idles cannot be told.");
    if (!bound.byTheHost())
        return silent(fmt::format("The device waits for the host's operators and launches only {} of the time.",
                                  shareText(bound.hostShare)));
    if (mayHaveHadNothingToDo(c, bound))
        return cannotTell(fmt::format("The device idles {} of the time, but the host launches or runs operators only "
                                      "{} of it: what the host did else is not recorded, or it had nothing to do.",
                                      shareText(bound.hostShare), shareText(bound.launchShare)));
    const IdleCause gaps = bound.marksSteps ? hostGaps(c, *bound.cause) : *bound.cause;
    Advice advice = finding(bound);
    if (c.facts.device.steps.size() > 1)
        advice.saving = spreadOverSteps(insideEachStep(c, gaps.where));
    else
        advice.whyNoPrediction = bound.marksSteps ? std::string("One step does not show how much the gaps vary.")
                                                  : noStepMarks("what a step would save is not known");
    advice.caveats = {
        "A larger batch, compiling, fused optimizers and fewer small operators all give the host less to do a "
        "sample."};
    advice.whyNoToggle = "No single setting: see compile, optimizer.fused and batch.size.";
    advice.evidence = longestGaps(c, gaps);
    return advice;
}

} // namespace

Rule host_bound()
{
    return {"host.bound", "The device waits for the host", check};
}

} // namespace advisor::rules
