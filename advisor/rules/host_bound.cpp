#include "advisor/gpu_facts.h"
#include "advisor/launch_bound.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

Advice check(const Case& c)
{
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: there is no device to wait for the host."))
        return *advice;
    if (c.facts.device.work.all.count == 0)
        return cannotTell("No kernels were recorded.");
    const LaunchBound bound = launchBound(c);
    if (bound.launchShare == 0 && bound.idleShare > 0.1 &&
        !profiler::analysis::hasKind(c.trace, profiler::ActivityKind::CpuOp) &&
        !profiler::analysis::hasKind(c.trace, profiler::ActivityKind::CudaRuntime))
        return cannotTell("The trace holds nothing of the host: why the device idles cannot be told.");
    if (!bound.byTheHost())
        return silent(bound.hostShare < LaunchBound::kShare
                          ? fmt::format("The device waits for the host's operators and launches only {} of the time.",
                                        shareText(bound.hostShare))
                          : fmt::format("The device waits for the host's operators and launches {} of the time, but "
                                        "longer for something else.",
                                        shareText(bound.hostShare)));
    Advice advice = fires(
        fmt::format("The device idles {} of the time while the host runs operators, launches work or does what no "
                    "event records: the step is bound by the host.",
                    shareText(bound.hostShare)));
    advice.concerns = bound.hostShare;
    if (c.facts.device.steps.size() > 1)
        advice.saving = spreadOverSteps(insideEachStep(c, bound.cause->where));
    else
        advice.whyNoPrediction = "One step does not show how much the gaps vary.";
    advice.caveats = {
        "A larger batch, compiling, fused optimizers and fewer small operators all give the host less to do a "
        "sample."};
    advice.whyNoToggle = "No single setting: see compile, optimizer.fused and batch.size.";
    advice.evidence = longestGaps(c, *bound.cause);
    return advice;
}

} // namespace

Rule host_bound()
{
    return {"host.bound", "The device waits for the host", check};
}

} // namespace advisor::rules
