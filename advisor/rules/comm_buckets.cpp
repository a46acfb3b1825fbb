#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/phases.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// A bucketed exchange takes about one kernel per 25 MB of gradients; an exchange per parameter takes dozens.
constexpr double kManyAStep = 40;
// Share of communication that is hidden by compute: below it, communication counts as not overlapped.
constexpr double kOverlapped = 0.1;

// Minimum exposed share of the step: below it, the effect of hiding it cannot be distinguished from noise.
constexpr double kMinimumShare = 0.02;

/// Gradients are exchanged by all-reduce. FSDP gathers weights and scatters gradients instead, and already does so in
/// buckets.
bool isAllReduce(std::string_view kernel)
{
    return kernel.find("AllReduce") != kernel.npos || kernel.find("all_reduce") != kernel.npos ||
           kernel.find("allreduce") != kernel.npos;
}

/// Start of the backward pass of each steady-state step on the host; no value if a step has none.
std::vector<std::optional<TraceTime>> backwardBegins(const RuleContext& c)
{
    const std::vector<TimeRange>& steps = c.facts.device.steps;
    std::vector<std::optional<TraceTime>> begins(steps.size());
    const auto add = [&](TraceTime begin) {
        const auto after = std::upper_bound(steps.begin(), steps.end(), begin,
                                            [](TraceTime time, const TimeRange& step) { return time < step.begin; });
        if (after == steps.begin() || !std::prev(after)->contains(begin))
            return;
        auto& known = begins[static_cast<std::size_t>(after - steps.begin()) - 1];
        known = std::min(known.value_or(begin), begin);
    };
    const Phases phases(c.trace);
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
            forEachView(c.trace, track.id, [&](const SliceView& slice) {
                if (phases.of(slice) == phase::kBackward)
                    add(slice.begin());
            });
    if (!c.facts.steps.empty())
        for (const TimeRange& pass : backwardPasses(c.trace, phases, c.facts.steps.front().slice.track))
            add(pass.begin);
    return begins;
}

struct Exchanges {
    std::vector<Slice> kernels;    ///< all-reduces from the start of a backward pass to the end of its step
    std::vector<OnDevice> devices; ///< the devices of these kernels
    std::size_t others = 0;        ///< all-reduces before the backward pass
    bool backward = false;         ///< some step has a backward pass
};

Exchanges exchanges(const RuleContext& c, const CommunicationUse& use)
{
    const std::vector<TimeRange>& steps = c.facts.device.steps;
    const auto begins = backwardBegins(c);
    Exchanges found;
    found.backward = std::any_of(begins.begin(), begins.end(), [](const auto& begin) { return begin.has_value(); });
    for (const Slice& kernel : use.kernels) {
        if (!isAllReduce(c.trace.name(kernel)))
            continue;
        const auto after = std::upper_bound(steps.begin(), steps.end(), kernel.begin,
                                            [](TraceTime time, const TimeRange& step) { return time < step.begin; });
        const auto& begin = begins[static_cast<std::size_t>(after - steps.begin()) - (after == steps.begin() ? 0 : 1)];
        if (begin && kernel.begin >= *begin)
            found.kernels.push_back(kernel);
        else
            ++found.others;
    }
    found.devices =
        againstOwnKernels(c, found.kernels, [](std::string_view kernel) { return !isCommunication(kernel); });
    return found;
}

/// Without steps, the number of exchanges per step is unknown, but the time that they can cost is bounded.
Advice withoutSteps(const RuleContext& c, const CommunicationUse& use)
{
    std::vector<Slice> sums;
    for (const Slice& kernel : use.kernels)
        if (isAllReduce(c.trace.name(kernel)))
            sums.push_back(kernel);
    const std::vector<OnDevice> devices =
        againstOwnKernels(c, sums, [](std::string_view kernel) { return !isCommunication(kernel); });
    const double share = toUs(meanExposed(devices)) / std::max(1e-3, toUs(c.facts.device.windowTime()));
    if (share < kMinimumShare)
        return silent(
            message<"comm.buckets.little_without_steps",
                    "All-reduces that do not overlap with compute take only {share} of the recorded time. The trace "
                    "has no steps, so this is not per step.">({{"share", share, shareText(share)}}));
    return cannotTell(noStepMarks("the number of all-reduces per step is unknown"), Need::Steps);
}

/// The answer for a job whose ranks have separate traces, on GPUs or on the CPU.
Advice onJob(const RuleContext& c)
{
    const JobAnalysis& job = c.ranks->analysis;
    if (!job.gradients)
        return silent(
            message<"comm.buckets.no_all_reduce", "No all-reduce ran: gradients are not exchanged per parameter.">());
    const GradientExchange& exchange = *job.gradients;
    const bool haveSteps = std::ranges::all_of(c.ranks->ranks, [](const RankDigest& rank) { return rank.hasSteps; });
    const double share = job.stepUs > 0 ? exchange.exposedUs / job.stepUs : 0;
    const double overlap = exchange.us > 0 ? 1 - exchange.exposedUs / exchange.us : 0;
    if (!haveSteps)
        return share < kMinimumShare
                   ? silent(message<"comm.buckets.little_without_steps",
                                    "All-reduces that do not overlap with compute take only {share} of the recorded "
                                    "time. The trace has no steps, so this is not per step.">(
                         {{"share", share, shareText(share)}}))
                   : cannotTell(noStepMarks("the number of all-reduces per step is unknown"), Need::Steps);
    const MessageParameter calls{"kernels", exchange.calls, countText(exchange.calls)};
    if (exchange.calls < kManyAStep)
        return silent(message<"comm.buckets.job_few", "A rank exchanges gradients in {kernels} all-reduces per step.">(
            {calls, {"size", exchange.medianBytes, bytesText(exchange.medianBytes)}}));
    if (overlap >= kOverlapped)
        return silent(message<"comm.buckets.overlapped", "{overlap} of the gradient exchange overlaps with compute.">(
            {{"overlap", overlap, shareText(overlap)}}));
    if (share < kMinimumShare)
        return silent(
            message<"comm.buckets.cheap", "A step exchanges gradients in {kernels} kernels, but their exposed time is "
                                          "only {share} of the step.">({calls, {"share", share, shareText(share)}}));
    const MessageParameter overlapped{"overlap", overlap, shareText(overlap)};
    Advice advice = fires(
        exchange.medianBytes > 0
            ? message<"comm.buckets.job", "On average, a rank exchanges gradients in {kernels} small all-reduces per "
                                          "step (median {size}), one per parameter; {overlap} of their time overlaps "
                                          "with compute.">(
                  {calls, {"size", exchange.medianBytes, bytesText(exchange.medianBytes)}, overlapped})
            : message<"comm.buckets.job_sizes_unknown",
                      "On average, a rank exchanges gradients in {kernels} all-reduces per step, one per parameter; "
                      "{overlap} of their time overlaps with compute.">({calls, overlapped}));
    advice.timeShare = std::min(1.0, share);
    advice.whyNoPrediction = message<"comm.buckets.job_bound", "At most {time} per step, on average over the ranks.">(
        {{"time", exchange.exposedUs, timeText(exchange.exposedUs)}});
    advice.caveats = {message<"comm.buckets.perfect_overlap",
                              "The saving assumes perfect overlap; the last bucket is always exposed.">()};
    setToggle(advice, c, "parallel.kind", "ddp");
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
    if (c.facts.device.steps.empty())
        return withoutSteps(c, use);
    const Exchanges found = exchanges(c, use);
    if (!found.backward)
        return hasKind(c.trace, ActivityKind::CpuOp) || hasKind(c.trace, ActivityKind::Phase)
                   ? silent(message<"comm.buckets.no_backward",
                                    "The steps have no backward pass: no gradients are exchanged.">())
                   : cannotTell(
                         message<"comm.buckets.backward_unknown",
                                 "The trace does not mark the backward pass: it is unknown what is exchanged.">(),
                         Need::Program);
    if (found.others + found.kernels.size() == 0)
        return silent(
            message<"comm.buckets.no_all_reduce", "No all-reduce ran: gradients are not exchanged per parameter.">());
    if (found.others >= found.kernels.size())
        return silent(message<"comm.buckets.not_gradients",
                              "All-reduces also run before the backward pass, so not only gradients are exchanged.">());
    std::vector<SliceId> kernels;
    std::vector<double> us;
    for (const Slice& kernel : found.kernels) {
        us.push_back(toUs(kernel.duration));
        kernels.push_back(kernel.id);
    }
    const double devices = static_cast<double>(std::max<std::size_t>(1, found.devices.size()));
    const double aStep =
        static_cast<double>(kernels.size()) / static_cast<double>(c.facts.device.steps.size()) / devices;
    const double overlap = overlapOf(found.devices);
    if (aStep < kManyAStep)
        return silent(message<"comm.buckets.few", "A step exchanges gradients in {kernels} kernels.">(
            {{"kernels", aStep, countText(aStep)}}));
    if (overlap >= kOverlapped)
        return silent(message<"comm.buckets.overlapped", "{overlap} of the gradient exchange overlaps with compute.">(
            {{"overlap", overlap, shareText(overlap)}}));
    const double share = toUs(meanExposed(found.devices)) / toUs(c.facts.device.windowTime());
    if (share < kMinimumShare)
        return silent(
            message<"comm.buckets.cheap", "A step exchanges gradients in {kernels} kernels, but their exposed time is "
                                          "only {share} of the step.">(
                {{"kernels", aStep, countText(aStep)}, {"share", share, shareText(share)}}));
    Advice advice = fires(message<"comm.buckets.per_parameter",
                                  "A step exchanges gradients in {kernels} small kernels (median {median}), "
                                  "one per parameter; {overlap} of their time overlaps with compute.">(
        {{"kernels", aStep, countText(aStep)},
         {"median", percentile(us, 0.5), timeText(percentile(us, 0.5))},
         {"overlap", overlap, shareText(overlap)}}));
    advice.timeShare = share;
    if (c.facts.device.steps.size() > 1)
        advice.saving = upperBoundOverSteps(exposedInEachStep(c, found.devices));
    else
        advice.whyNoPrediction = message<"prediction.one_step", "One step does not show how much the time varies.">();
    advice.caveats = {message<"comm.buckets.perfect_overlap",
                              "The saving assumes perfect overlap; the last bucket is always exposed.">()};
    setToggle(advice, c, "parallel.kind", "ddp");
    addEvidence(advice, c.trace, kernels);
    return advice;
}

} // namespace

Rule comm_buckets()
{
    return {"comm.buckets", "Gradients are exchanged one parameter at a time", check, Needs::Steps,
            TimePart::Communication};
}

} // namespace advisor::rules
