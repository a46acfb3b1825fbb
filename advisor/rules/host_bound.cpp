#include "advisor/evidence/launch_bound.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
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

/// The gaps behind the finding's share: those while the host launches, and those between launches that no event
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

/// Between launches the host computes; where it hardly launches, it may as well have nothing to do. Only steps whose
/// operators are recorded say that a training went on; a server has requests to wait for.
bool mayHaveHadNothingToDo(const RuleContext& c, const LaunchBound& bound)
{
    return bound.marksSteps ? bound.launchShare < LaunchBound::kPart && !hasKind(c.trace, profiler::ActivityKind::CpuOp)
                            : !bound.byLaunches();
}

/// Within steps, work of the host that no event records counts, too.
Message reasonOf(const LaunchBound& bound)
{
    if (!bound.marksSteps)
        return message<"host.bound.without_steps",
                       "The GPU idles {share} of the time with an empty launch queue while the CPU runs operators or "
                       "launches work. The trace has no step marks: this is a share of all the time recorded.">(
            {{"share", bound.launchShare, shareText(bound.launchShare)}});
    if (bound.isFirstCause())
        return message<"host.bound.first_cause",
                       "The GPU idles {share} of the step with an empty launch queue while the CPU runs operators, "
                       "launches work or runs code that no event records: the step is bound by the CPU.">(
            {{"share", bound.hostShare, shareText(bound.hostShare)}});
    return message<
        "host.bound.part",
        "The GPU idles {share} of the step with an empty launch queue while the CPU runs operators, launches "
        "work or runs code that no event records. Another cause has it idle longer.">(
        {{"share", bound.hostShare, shareText(bound.hostShare)}});
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutDeviceWork(
            c, message<"host.bound.cpu", "The run was on the CPU: there is no device to wait for the host.">()))
        return *advice;
    if (c.facts.device.work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    const LaunchBound bound = launchBound(c);
    if (!recordsTheHost(c.trace))
        return cannotTell(
            message<"host.bound.no_host", "The trace does not record the CPU: why the GPU idles is unknown.">(),
            Need::KernelsAndHost);
    if (bound.isQueueWhy())
        return silentForTheQueue(bound);
    const double unexplained = bound.hostShare + bound.unknownShare;
    if (!bound.byTheHost() && unexplained < LaunchBound::kShare)
        return silent(
            message<"host.bound.rarely", "The GPU waits for operators and launches only {share} of the time.">(
                {{"share", bound.hostShare, shareText(bound.hostShare)}}));
    if (!bound.byTheHost() || mayHaveHadNothingToDo(c, bound))
        return cannotTell(
            message<"host.bound.unrecorded", "The GPU idles {idle} of the time, but the CPU launches work or runs "
                                             "operators only {host} of it: what else it did is not recorded, or it had "
                                             "nothing to do.">(
                {{"idle", unexplained, shareText(unexplained)},
                 {"host", bound.launchShare, shareText(bound.launchShare)}}),
            Need::Operators);
    const IdleCause gaps = bound.marksSteps ? hostGaps(c, *bound.cause) : *bound.cause;
    Advice advice = fires(reasonOf(bound));
    advice.timeShare = bound.marksSteps ? bound.hostShare : bound.launchShare;
    if (bound.marksSteps)
        advice.saving = upperBoundOverSteps(idleForTheHost(c));
    else
        advice.whyNoPrediction = noStepMarks("what a step would save is not known");
    advice.caveats = {message<"host.bound.remedies", "A larger batch, compiling, a fused optimizer and fewer small "
                                                     "operators each give the CPU less to do per sample.">()};
    if (bound.unknownShare >= LaunchBound::kPart)
        advice.caveats.push_back(
            message<"host.bound.unknown_rest", "For another {share} of the time, the GPU idles outside of the launches "
                                               "and no event says why: that is not counted.">(
                {{"share", bound.unknownShare, shareText(bound.unknownShare)}}));
    if (!bound.queueKnown)
        advice.caveats.push_back(
            message<"host.bound.queue_unknown", "Launches are not recorded: that the launch queue is empty is inferred "
                                                "from what the CPU does meanwhile.">());
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
