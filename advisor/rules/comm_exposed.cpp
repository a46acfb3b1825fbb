#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Minimum share of the step. Source: PyTorch's TensorBoard plug-in gives advice from 10 % on.
constexpr double kMinimumShare = 0.1;

/// The answer for a job whose ranks have separate traces: the mean over ranks, because a rank that is late itself
/// hardly waits.
Advice onJob(const RuleContext& c)
{
    const JobAnalysis& job = c.ranks->analysis;
    double exposedUs = 0, waitUs = 0, transferUs = 0;
    std::size_t calls = 0;
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        const double ranks = static_cast<double>(job.ranks.size());
        exposedUs += job.ranks[i].exposedUs / ranks;
        waitUs += job.ranks[i].waitUs / ranks;
        transferUs += job.ranks[i].transferUs / ranks;
        calls += c.ranks->ranks[i].communication.calls.size();
    }
    if (calls == 0)
        return silent(message<"comm.exposed.job_none", "No rank recorded communication.">());
    const double share = job.stepUs > 0 ? exposedUs / job.stepUs : 0;
    const MessageParameter exposedShare{"share", share, shareText(share)};
    if (share < kMinimumShare)
        return silent(message<"comm.exposed.job_small", "On average over the ranks, exposed communication takes only "
                                                        "{share} of a step.">({exposedShare}));
    Advice advice =
        fires(message<"comm.exposed.job", "On average over the ranks, exposed communication takes {share} "
                                          "of a step; {overlap} of all communication overlaps with "
                                          "compute. Per step, a rank transfers for {transfer} and waits "
                                          "{wait} for other ranks.">({exposedShare,
                                                                      {"overlap", job.overlap, shareText(job.overlap)},
                                                                      {"transfer", transferUs, timeText(transferUs)},
                                                                      {"wait", waitUs, timeText(waitUs)}}));
    advice.timeShare = share;
    advice.whyNoPrediction =
        message<"comm.exposed.job_bound", "At most {time} per step.">({{"time", exposedUs, timeText(exposedUs)}});
    for (const GroupUse& use : job.groups)
        if (use.exposedUs >= kMinimumShare * job.stepUs)
            advice.caveats.push_back(message<"comm.exposed.group", "{time} per step in groups of {role} parallelism.">(
                {{"time", use.exposedUs, timeText(use.exposedUs)}, {"role", groupRoleName(use.role)}}));
    advice.whyNoToggle =
        message<"comm.exposed.no_setting", "No single setting: see parallel.kind and gradient.accumulation.">();
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.ranks)
        return onJob(c);
    if (auto advice = withoutDeviceWork(
            c, message<"comm.cpu", "The run used only the CPU: there are no communication kernels.">()))
        return *advice;
    const CommunicationUse use = communicationUse(c);
    if (use.kernels.empty())
        return silent(message<"comm.no_kernels", "No NCCL or RCCL kernel ran.">());
    const Nanoseconds exposed = meanExposed(use.devices);
    const double exposedUs = c.facts.device.usPerStep(exposed);
    const double share = static_cast<double>(exposed.count()) /
                         static_cast<double>(std::max<std::int64_t>(1, c.facts.device.windowTime().count()));
    if (share < kMinimumShare)
        return silent(message<"comm.exposed.small", "Exposed communication takes only {share} of the time.">(
            {{"share", share, shareText(share)}}));
    const double overlap = overlapOf(use.devices);
    const MessageParameter exposedShare{"share", share, shareText(share)};
    const MessageParameter overlapped{"overlap", overlap, shareText(overlap)};
    Advice advice =
        fires(c.facts.device.steps.empty()
                  ? message<"comm.exposed.recorded",
                            "Exposed communication takes {share} of the recorded time; {overlap} of all communication "
                            "overlaps with compute. The trace has no steps, so this is not per step.">(
                        {exposedShare, overlapped})
                  : message<"comm.exposed.share",
                            "Exposed communication takes {share} of the time; {overlap} of all communication overlaps "
                            "with compute.">({exposedShare, overlapped}));
    advice.timeShare = share;
    if (!c.facts.device.steps.empty())
        advice.saving = upperBoundOverSteps(exposedInEachStep(c, use.devices));
    else
        advice.whyNoPrediction =
            message<"comm.exposed.without_steps", "At most {time} in total. The trace has no step marks.">(
                {{"time", exposedUs, timeText(exposedUs)}});
    advice.caveats = {
        message<"comm.exposed.perfect_overlap",
                "The saving assumes perfect overlap; buckets, accumulation and faster links each achieve a "
                "part of it.">()};
    advice.whyNoToggle =
        message<"comm.exposed.no_setting", "No single setting: see parallel.kind and gradient.accumulation.">();
    addEvidence(advice, c.trace, use.kernels);
    return advice;
}

} // namespace

Rule comm_exposed()
{
    return {"comm.exposed", "Compute waits for communication", check, Needs::Steps, TimePart::Communication, true};
}

} // namespace advisor::rules
