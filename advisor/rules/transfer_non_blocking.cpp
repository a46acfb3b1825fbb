#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "transfer.non_blocking";
// Minimum share of the step: below it, the effect of asynchronous copies cannot be distinguished from noise.
constexpr double kMinimumShare = 0.01;
// The same for a trace without step marks, which also contains the start and end of the run.
constexpr double kMinimumShareWithoutSteps = 0.05;
// The same for copies that the host does not wait for: a separate stream changes the program more than a flag does.
constexpr double kMinimumShareAhead = 0.05;

// Minimum share of the devices' time spent on copies in either direction while no kernel runs. Chosen: at 25 %,
// reducing copies gains more than faster kernels.
constexpr double kTransferBound = 0.25;

/// Copies to the device that could run asynchronously, as far as known, longest first: not from pageable memory and,
/// without step marks, not before the first kernel, when weights are uploaded.
std::vector<Slice> copiesAhead(const RuleContext& c)
{
    const DeviceFacts& device = c.facts.device;
    std::vector<Slice> copies;
    for (const Slice& copy : device.copies)
        if (copy.args.copy == CopyKind::HtoD && copy.args.src != MemoryKind::Pageable &&
            (!device.steps.empty() || (!device.kernels.empty() && copy.begin >= device.kernels.front().begin)))
            copies.push_back(copy);
    std::stable_sort(copies.begin(), copies.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    return copies;
}

/// Copies grouped by whether the host waits for them.
struct Ordered {
    std::vector<Slice> waited, ahead, unknown; ///< longest first
};

/// The host waits for a copy if the copy's call returns only after the copy ends, or if a later synchronizing call on
/// the same thread does.
Ordered byOrder(const Trace& trace, const std::vector<Slice>& copies)
{
    std::unordered_map<std::uint64_t, Slice> calls;
    std::vector<Slice> syncs; // sorted by start
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call : ofKindNamed(trace, kind, [](std::string_view name) {
                 return isSyncCall(name) || name.find("emcpy") != name.npos;
             })) {
            if (isSyncCall(trace.name(call)))
                syncs.push_back(call);
            else if (call.correlation.value != 0)
                calls.emplace(call.correlation.value, call);
        }
    std::stable_sort(syncs.begin(), syncs.end(), [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    Ordered found;
    for (const Slice& copy : copies) {
        const auto call = copy.correlation.value != 0 ? calls.find(copy.correlation.value) : calls.end();
        if (call == calls.end()) {
            found.unknown.push_back(copy);
            continue;
        }
        bool waits = isBlockingCopy(trace.name(call->second)) || call->second.end() >= copy.end();
        auto sync = std::lower_bound(syncs.begin(), syncs.end(), call->second.begin,
                                     [](const Slice& slice, TraceTime time) { return slice.begin < time; });
        for (; !waits && sync != syncs.end() && sync->begin < copy.end(); ++sync)
            waits = sync->id.track == call->second.id.track && sync->end() >= copy.end();
        (waits ? found.waited : found.ahead).push_back(copy);
    }
    return found;
}

/// Share of the analysis window in which copies are exposed, as the mean over devices.
double exposedShare(const RuleContext& c, std::span<const OnDevice> devices)
{
    return toUs(meanExposed(devices)) / toUs(c.facts.device.windowTime());
}

/// Lower bound: the host continues at once and its stream still waits for the copy. Upper bound: the copy runs on a
/// separate stream and nothing waits for it. If too few launches are known for a replay: the copy time that no kernel
/// hides.
Saving saving(const RuleContext& c, std::span<const Slice> waited, std::span<const OnDevice> devices)
{
    std::unordered_set<SliceId> copies;
    for (const Slice& copy : waited)
        copies.insert(copy.id);
    const auto ordersAhead = [&copies](bool apart) {
        return [&copies, apart](const ReplayWork& work) {
            const bool copy = work.where == ReplayWork::Where::Device && copies.contains(work.slice);
            return ReplayChange{.waits = !(work.waits && copies.contains(work.cause)), .blocks = !(apart && copy)};
        };
    };
    if (const auto replayed = savingByReplay(c, ordersAhead(false), ordersAhead(true)))
        return *replayed;
    return upperBoundOverSteps(exposedInEachStep(c, devices));
}

/// @param waited copies that the host waits for, longest first
Advice finding(const RuleContext& c, std::span<const Slice> waited, std::span<const OnDevice> devices)
{
    const bool steps = !c.facts.device.steps.empty();
    const double share = exposedShare(c, devices);
    const double copyUs = c.facts.device.usPerStep(meanExposed(devices));
    Advice advice =
        fires((steps ? message<"transfer.non_blocking.steps",
                               "Copies to the GPU take {time} of each step while the CPU waits and no kernel runs.">(
                           {{"time", copyUs, timeText(copyUs)}})
                     : message<"transfer.non_blocking.without_steps",
                               "Copies to the GPU take {share} of the recorded time while the CPU waits and no kernel "
                               "runs. The trace has no step marks.">({{"share", share, shareText(share)}})));
    advice.timeShare = share;
    if (steps)
        advice.saving = saving(c, waited, devices);
    else
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    advice.caveats = {
        message<"transfer.non_blocking.stream",
                "Copies on the compute stream wait for earlier work: use a separate stream.">(),
        message<"transfer.non_blocking.pinned",
                "Only from pinned memory, and only without a synchronization right after the copy.">(),
        message<"transfer.non_blocking.reuse", "The host buffer must not be reused before the copy is done.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, waited);
    return advice;
}

/// Copies that the host does not wait for but that no kernel hides: the kernels of the next step run after them.
/// @param ahead such copies, longest first
std::optional<Advice> exposedAhead(const RuleContext& c, std::span<const Slice> ahead)
{
    const std::vector<OnDevice> devices = againstOwnKernels(c, ahead);
    const double share = exposedShare(c, devices);
    if (share < kMinimumShareAhead)
        return std::nullopt;
    Advice advice =
        fires(message<
              "transfer.non_blocking.exposed",
              "The CPU does not wait for copies to the GPU, but copies take {share} of the time while no kernel runs.">(
            {{"share", share, shareText(share)}}));
    advice.title = "Copies to the GPU are not overlapped";
    advice.timeShare = share;
    if (c.facts.device.steps.empty())
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    else
        advice.saving = upperBoundOverSteps(exposedInEachStep(c, devices));
    advice.caveats = {
        message<
            "transfer.non_blocking.ahead",
            "Copies on the compute stream wait for earlier work: use a separate stream and copy one batch ahead.">(),
        message<
            "transfer.non_blocking.bytes",
            "Fewer bytes are copied faster: copy the data as read and normalize on the GPU. See augment.device.">()};
    advice.whyNoToggle =
        message<"transfer.non_blocking.asynchronous",
                "The copies are already asynchronous, but they need a separate stream, as in the code to copy.">();
    addEvidence(advice, c.trace, ahead);
    return advice;
}

/// The finding for any program, whether or not it waits for its copies: its devices spend much of their time copying
/// while no kernel runs. No value for training, or if copies take less.
std::optional<Advice> transferBound(const RuleContext& c)
{
    if (!isPlainProgram(c))
        return std::nullopt;
    const HostCopies copies = hostCopies(c);
    const double share = exposedShare(c, copies.devices);
    if (share < kTransferBound)
        return std::nullopt;
    const HostCopies pageable = pageableHostCopies(c, 0);
    const double ofPageable = toUs(pageable.time) / toUs(copies.time);
    Advice advice = fires(
        message<"transfer.bound",
                "Copies between host and device take {share} of the devices' time while no kernel runs: {to_device} to "
                "devices and {to_host} back at {gb_per_s} GB/s, {pageable} of their time with pageable memory.">(
            {{"share", share, shareText(share)},
             {"to_device", copies.bytesToDevice, bytesText(copies.bytesToDevice)},
             {"to_host", copies.bytesToHost, bytesText(copies.bytesToHost)},
             {"gb_per_s", copies.gbPerSecond(), fmt::format("{:.3g}", copies.gbPerSecond())},
             {"pageable", ofPageable, shareText(ofPageable)}}));
    advice.title = "Copies to and from the device are exposed";
    advice.timeShare = share;
    advice.whyNoPrediction = message<
        "transfer.bound.no_prediction",
        "How many of the copies kernels can hide depends on the program: which results the next kernels need.">();
    advice.caveats = {
        message<"transfer.bound.keep", "Data that the next kernel reads can stay on the device.">(),
        message<"transfer.bound.overlap",
                "On a separate stream, copies from and to pinned memory overlap with kernels of other streams.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, copies.copies);
    return advice;
}

Advice checkCopies(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"transfer.non_blocking.on", "Copies are already asynchronous.">());
    if (auto advice = withoutDeviceWork(
            c, message<"transfer.cpu", "The run used only the CPU: nothing is copied to a device.">()))
        return *advice;
    if (c.facts.device.steps.empty() && c.facts.device.kernels.empty())
        return cannotTell(
            message<
                "transfer.non_blocking.no_work",
                "Neither steps nor kernels were recorded: it is unknown whether the copies are part of training.">(),
            Need::Steps);
    const CopyUse all = copyUse(c, CopyKind::HtoD);
    if (all.count == 0)
        return silent(
            message<"transfer.non_blocking.none", "Nothing is copied from the host to a GPU that runs kernels.">());
    const std::vector<Slice> copies = copiesAhead(c);
    if (copies.empty())
        return silent(
            message<"transfer.non_blocking.pageable", "All copies come from pageable memory, where non_blocking "
                                                      "has no effect. See loader.pin_memory.">());
    Ordered ordered = byOrder(c.trace, copies);
    if (c.config) // the trainer's setting determines whether the host waits
        ordered.waited.insert(ordered.waited.end(), ordered.unknown.begin(), ordered.unknown.end());
    const bool unknown = !c.config && ordered.waited.empty();
    if (unknown)
        ordered.waited = std::move(ordered.unknown);
    if (ordered.waited.empty()) {
        if (auto advice = exposedAhead(c, ordered.ahead))
            return *advice;
        return silent(message<"transfer.non_blocking.no_wait",
                              "The CPU does not wait for copies to the GPU: all of them are already asynchronous.">());
    }
    std::vector<OnDevice> devices = againstOwnKernels(c, ordered.waited);
    const bool steps = !c.facts.device.steps.empty();
    const double worthFixing = steps ? kMinimumShare : kMinimumShareWithoutSteps;
    if (exposedShare(c, devices) < worthFixing)
        return silent(
            message<"transfer.non_blocking.little",
                    "Copies to the GPU that the CPU waits for and that no kernel hides take only {share} of the time.">(
                {{"share", exposedShare(c, devices), shareText(exposedShare(c, devices))}}));
    if (unknown)
        return cannotTell(
            message<"transfer.non_blocking.no_calls",
                    "The calls of these copies are not recorded: it is unknown whether the CPU waits for them.">(),
            Need::KernelsAndHost);
    std::erase_if(ordered.waited, [](const Slice& copy) { return copy.args.src == MemoryKind::Unknown; });
    devices = againstOwnKernels(c, ordered.waited);
    if (exposedShare(c, devices) < worthFixing)
        return cannotTell(
            message<
                "transfer.non_blocking.memory_unknown",
                "The memory kind of these copies is not recorded: from pageable memory, non_blocking has no effect.">(),
            Need::CopySources);
    if (!steps && c.config)
        return cannotTell(noStepMarks(), Need::Steps);
    return finding(c, ordered.waited, devices);
}

Advice check(const RuleContext& c)
{
    Advice advice = checkCopies(c);
    if (advice.state != State::Fires)
        if (auto bound = transferBound(c))
            return *bound;
    return advice;
}

} // namespace

Rule transfer_non_blocking()
{
    return {kKey, "The step waits for copies to the device", check, Needs::Steps,
            TimePart::Copy | TimePart::Sync | TimePart::Launch};
}

} // namespace advisor::rules
