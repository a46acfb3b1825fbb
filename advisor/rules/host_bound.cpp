#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <utility>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;
using profiler::Message;
using profiler::message;

/// The gaps that make up the finding's share: gaps during host launches and gaps between launches that no event
/// explains. Only of one device, because all evidence is shown on one stream.
IdleCause hostGaps(const RuleContext& c, const IdleCause& cause)
{
    IdleCause gaps = cause;
    gaps.cause = "host";
    gaps.where.clear();
    for (const std::string_view name : {"launch", "other"})
        if (const IdleCause* part = c.facts.device.idleCause(name))
            for (const auto& [device, where] : part->everywhere)
                if (device == cause.device)
                    gaps.where = unite(std::move(gaps.where), name == "other" ? unrecordedHostTime(c, where) : where);
    return gaps;
}

/// Between launches the host computes; a host that hardly launches anything may simply have nothing to do. Only steps
/// with recorded operators prove that training was running; a server may be waiting for requests.
bool mayHaveHadNothingToDo(const RuleContext& c, const LaunchBound& bound)
{
    return bound.marksSteps ? bound.launchShare < LaunchBound::kPart && !hasKind(c.trace, profiler::ActivityKind::CpuOp)
                            : !bound.byLaunches();
}

/// Within steps, host work that no event records counts as well.
Message reasonOf(const LaunchBound& bound)
{
    if (!bound.marksSteps)
        return message<"host.bound.without_steps",
                       "The GPU idles {share} of the time with an empty launch queue while the CPU runs operators or "
                       "launches work. The trace has no step marks: this is a share of the whole recorded time.">(
            {{"share", bound.launchShare, shareText(bound.launchShare)}});
    if (bound.isFirstCause())
        return message<"host.bound.first_cause",
                       "The GPU idles {share} of the step with an empty launch queue while the CPU runs operators, "
                       "launches work or runs code that no event records: the step is CPU-bound.">(
            {{"share", bound.hostShare, shareText(bound.hostShare)}});
    return message<"host.bound.part",
                   "The GPU idles {share} of the step with an empty launch queue while the CPU runs operators, "
                   "launches work or runs code that no event records. Another cause of idle time dominates.">(
        {{"share", bound.hostShare, shareText(bound.hostShare)}});
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutDeviceWork(
            c, message<"host.bound.cpu", "The run used only the CPU: no device waits for the host.">()))
        return *advice;
    if (c.facts.device.work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    const LaunchBound bound = launchBound(c);
    if (!recordsHost(c.trace))
        return cannotTell(
            message<"host.bound.no_host", "The trace does not record the CPU: it is unknown why the GPU idles.">(),
            Need::KernelsAndHost);
    if (bound.isQueueFull())
        return silentBecauseOfQueue(bound);
    const double unexplained = bound.hostShare + bound.unknownShare;
    if (!bound.isHostBound() && unexplained < LaunchBound::kShare)
        return silent(
            message<"host.bound.rarely", "The GPU waits for operators and launches only {share} of the time.">(
                {{"share", bound.hostShare, shareText(bound.hostShare)}}));
    if (!bound.isHostBound() || mayHaveHadNothingToDo(c, bound))
        return cannotTell(
            message<"host.bound.unrecorded",
                    "The GPU idles {idle} of the time, but the CPU launches work or runs operators only {host} of the "
                    "time. The trace does not record what else the CPU did, or whether it had anything to do.">(
                {{"idle", unexplained, shareText(unexplained)},
                 {"host", bound.launchShare, shareText(bound.launchShare)}}),
            Need::Operators);
    if (auto advice = withoutEnoughKernels(c, bound))
        return *advice;
    const IdleCause gaps = bound.marksSteps ? hostGaps(c, *bound.cause) : *bound.cause;
    Advice advice = fires(reasonOf(bound));
    advice.timeShare = bound.marksSteps ? bound.hostShare : bound.launchShare;
    if (bound.marksSteps)
        advice.saving = upperBoundOverSteps(idleForHost(c));
    else
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    advice.caveats = {message<"host.bound.remedies", "A larger batch, compilation, a fused optimizer and fewer small "
                                                     "operators each reduce the CPU work per sample.">()};
    if (bound.unknownShare >= LaunchBound::kPart)
        advice.caveats.push_back(
            message<"host.bound.unknown_rest", "For another {share} of the time, the GPU idles outside of launches and "
                                               "no event explains it; this time is not counted.">(
                {{"share", bound.unknownShare, shareText(bound.unknownShare)}}));
    if (slowedByProfiler(c))
        advice.caveats.push_back(profilerSlowsHost());
    if (!bound.queueKnown)
        advice.caveats.push_back(
            message<"host.bound.queue_unknown", "Launches are not recorded: the empty launch queue is inferred from "
                                                "what the CPU does at that time.">());
    advice.whyNoToggle =
        message<"host.bound.no_setting", "No single setting: see compile, optimizer.fused and batch.size.">();
    advice.evidence = longestGaps(c, gaps);
    return advice;
}

} // namespace

Rule host_bound()
{
    return {"host.bound", "GPU is starved by the CPU", check, Needs::Steps, TimePart::Launch, true};
}

} // namespace advisor::rules
