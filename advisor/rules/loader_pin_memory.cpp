#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.pin_memory";
// Minimum share of the time. Chosen: below half a percent, page-locked memory costs the host more than the copies take;
// an experiment does not report differences below 1 %.
constexpr double kMinimumShare = 0.005;
// Bytes. Documented: copies of up to 64 KB return before they are done, from any memory (CUDA C++ Programming Guide,
// "Asynchronous Concurrent Execution"); they take about as long as their launch.
constexpr std::int64_t kLargeCopy = 1 << 16;
// Chosen: with fewer copies, quartiles are single copies.
constexpr std::size_t kFewestCopies = 5;

/// Bandwidth of large copies to the device, in 10⁹ bytes per second.
struct Bandwidth {
    std::size_t copies = 0;
    double low = 0, mid = 0, high = 0; ///< quartiles
};

bool isLargeCopy(const Slice& copy, MemoryKind source)
{
    return copy.args.copy == CopyKind::HtoD && copy.args.src == source && copy.args.bytes >= kLargeCopy;
}

Bandwidth bandwidthOf(const RuleContext& c, MemoryKind source)
{
    std::vector<double> reached;
    for (const Slice& copy : c.facts.device.copies)
        if (isLargeCopy(copy, source) && copy.duration.count() > 0)
            reached.push_back(static_cast<double>(copy.args.bytes) / static_cast<double>(copy.duration.count()));
    if (reached.empty())
        return {};
    return {.copies = reached.size(),
            .low = percentile(reached, 0.25),
            .mid = percentile(reached, 0.5),
            .high = percentile(reached, 0.75)};
}

/// True if most copies from pinned memory are no faster than the median copy from pageable memory.
bool pinnedIsNoFaster(const Bandwidth& pinned, const Bandwidth& pageable)
{
    return pinned.copies >= kFewestCopies && pinned.high <= pageable.mid;
}

/// Replays the trace with pageable copies at the bandwidth of its pinned copies. Lower bound: their lower quartile,
/// with the API call taking as long as before. Upper bound: their upper quartile, with the API call taking no time. No
/// value if the trace contains no pinned copies to compare with or links too few launches.
std::optional<Saving> savingByFasterCopies(const RuleContext& c)
{
    const Bandwidth pinned = bandwidthOf(c, MemoryKind::Pinned);
    if (pinned.copies < kFewestCopies)
        return std::nullopt;
    std::unordered_set<SliceId> copies;
    for (const Slice& copy : c.facts.device.copies)
        if (isLargeCopy(copy, MemoryKind::Pageable))
            copies.insert(copy.id);
    const double now = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable, kLargeCopy).gbPerSecond();
    const auto copiedAt = [&copies, now](double bandwidth, double ofCall) {
        return [&copies, faster = std::min(1.0, now / bandwidth), ofCall](const ReplayWork& work) {
            if (work.where == ReplayWork::Where::Device && copies.contains(work.slice))
                return ReplayChange{.factor = faster};
            return ReplayChange{.factor = work.waits && copies.contains(work.cause) ? ofCall : 1};
        };
    };
    return savingByReplay(c, copiedAt(pinned.low, 1), copiedAt(pinned.high, 0));
}

void predict(Advice& advice, const RuleContext& c, const CopyUse& pageable)
{
    if (c.facts.device.steps.empty())
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    else if (!(advice.saving = savingByFasterCopies(c)))
        // A copy cannot take less than no time.
        advice.saving =
            upperBound(SavingUnit::UsPerStep, c.facts.device.usPerStep(pageable.meanPerDevice(pageable.time)));
}

/// Share of the analysis window, as the mean over the devices of the copies.
double shareOf(const RuleContext& c, const CopyUse& copies)
{
    const double window = toUs(c.facts.device.windowTime());
    return window > 0 ? toUs(copies.meanPerDevice(copies.time)) / window : 0;
}

/// Small copies gain nothing.
Advice finding(const RuleContext& c, const CopyUse& pageable, const CopyUse& large)
{
    const auto us = [&](Nanoseconds sum) { return c.facts.device.usPerStep(large.meanPerDevice(sum)); };
    const bool steps = !c.facts.device.steps.empty();
    const std::initializer_list<MessageParameter> parameters = {
        {"copies", pageable.count},
        {"large", large.count},
        {"time", us(large.time), timeText(us(large.time))},
        {"exposed", us(large.exposed), timeText(us(large.exposed))},
        {"share", shareOf(c, large), shareText(shareOf(c, large))},
        {"devices", large.devices},
        {"bandwidth", large.gbPerSecond(), fmt::format("{:.3g} GB/s", large.gbPerSecond())}};
    Advice advice = fires(
        steps ? message<"loader.pin_memory.per_step",
                        "{large} of {copies} copies to the device are large and come from pageable memory: {time} per "
                        "step at {bandwidth}, {exposed} of it while no kernel runs.">(parameters)
              : message<"loader.pin_memory.without_steps",
                        "{large} of {copies} copies to the device are large and come from pageable memory: {share} "
                        "of the recorded time at {bandwidth}. The trace has no steps, so this is not per step.">(
                    parameters));
    advice.timeShare = shareOf(c, large);
    predict(advice, c, large);
    advice.caveats = {message<"loader.pin_memory.swap",
                              "Pinned memory cannot be swapped out: do not use it if the host is short of memory.">(),
                      message<"loader.pin_memory.overlap",
                              "Copies overlap with compute only if transfer.non_blocking is on as well.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, large.longest);
    return advice;
}

/// For programs that show no sign of training, both directions and the first copies count.
Advice ofPlainProgram(const RuleContext& c)
{
    const HostCopies pageable = pageableHostCopies(c, kLargeCopy);
    const double window = toUs(c.facts.device.windowTime());
    const double share = window > 0 ? toUs(pageable.time) / static_cast<double>(pageable.devices.size()) / window : 0;
    if (share < kMinimumShare)
        return silent(message<"loader.pin_memory.little_pageable",
                              "Large copies from and to pageable memory take only {share} of the time.">(
            {{"share", share, shareText(share)}}));
    const auto count = static_cast<std::int64_t>(pageable.copies.size());
    Advice advice = fires(message<"loader.pin_memory.plain",
                                  "{count} large copies from or to pageable memory take {share} of the devices' time: "
                                  "{to_device} to devices and {to_host} back at {gb_per_s} GB/s.">(
        {{"count", count, countText(static_cast<double>(count))},
         {"share", share, shareText(share)},
         {"to_device", pageable.bytesToDevice, bytesText(pageable.bytesToDevice)},
         {"to_host", pageable.bytesToHost, bytesText(pageable.bytesToHost)},
         {"gb_per_s", pageable.gbPerSecond(), fmt::format("{:.3g}", pageable.gbPerSecond())}}));
    advice.title = "Copies use pageable memory";
    advice.timeShare = share;
    advice.whyNoPrediction =
        message<"loader.pin_memory.plain.no_prediction", "Without steps, the saving has no unit: measure it.">();
    advice.caveats = {message<"loader.pin_memory.plain.cost",
                              "Pinned memory cannot be swapped out and takes longer to allocate: allocate it once.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, pageable.copies);
    return advice;
}

/// A verdict from the run's settings alone, before the copies are examined.
std::optional<Advice> bySettings(const RuleContext& c)
{
    const bool pinned = c.config ? (*c.config)[config::key::pinMemory] : metadata(c.trace, kKey) == "true";
    if (!pinned)
        return std::nullopt;
    return silent(message<"loader.pin_memory.on", "The loader already pins its batches.">());
}

/// A verdict if the memory kind of the copies is not recorded or not conclusive.
std::optional<Advice> withoutSource(const RuleContext& c, const CopyUse& pageable)
{
    const bool steps = !c.facts.device.steps.empty();
    if (copyUse(c, CopyKind::HtoD).count == 0)
        return silent(steps ? message<"loader.pin_memory.no_copies", "Nothing is copied from the host to a device.">()
                            : message<"loader.pin_memory.no_later_copies",
                                      "Nothing is copied from the host after the first kernel.">());
    if (pageable.count == 0 && copyUse(c, CopyKind::HtoD, MemoryKind::Unknown).count > 0)
        return cannotTell(message<"loader.pin_memory.source_not_recorded",
                                  "The trace does not record the memory kind of the copies.">(),
                          Need::CopySources);
    if (pageable.count == 0)
        return silent(message<"loader.pin_memory.all_pinned", "All copies to the device come from pinned memory.">());
    if (metadata(c.trace, "device.pageable_uses_host_page_tables") == "1")
        return cannotTell(message<"loader.pin_memory.host_page_tables",
                                  "The GPU can access pageable host memory directly (through the host's page tables), "
                                  "so pageable memory alone is no problem here.">(),
                          Need::Measurement);
    return std::nullopt;
}

Advice check(const RuleContext& c)
{
    if (auto advice = bySettings(c))
        return *advice;
    if (auto advice = withoutDeviceWork(
            c, message<"transfer.cpu", "The run used only the CPU: nothing is copied to a device.">()))
        return *advice;
    if (c.facts.device.steps.empty() && c.facts.device.kernels.empty())
        return cannotTell(message<"loader.pin_memory.no_kernels",
                                  "The trace has neither steps nor kernels: it is unknown what the copies are for.">(),
                          Need::Steps);
    if (isPlainProgram(c) && !pageableHostCopies(c, kLargeCopy).copies.empty() &&
        metadata(c.trace, "device.pageable_uses_host_page_tables") != "1")
        return ofPlainProgram(c);
    const CopyUse pageable = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable);
    if (auto advice = withoutSource(c, pageable))
        return *advice;
    const CopyUse large = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable, kLargeCopy);
    const double pageableShare = shareOf(c, pageable), share = shareOf(c, large);
    if (large.count == 0 && pageable.bytes == 0 && pageableShare >= kMinimumShare)
        return cannotTell(
            message<"loader.pin_memory.size_not_recorded",
                    "{copies} copies from pageable memory take {share} of the time, but the trace does not "
                    "record their sizes.">(
                {{"copies", pageable.count}, {"share", pageableShare, shareText(pageableShare)}}),
            Need::CopySources);
    if (large.count == 0)
        return silent(message<"loader.pin_memory.small",
                              "Copies from pageable memory are small: pinning would not make them faster.">());
    if (share < kMinimumShare)
        return silent(
            message<"loader.pin_memory.rare", "Large copies from pageable memory take only {share} of the time.">(
                {{"share", share, shareText(share)}}));
    const Bandwidth pinned = bandwidthOf(c, MemoryKind::Pinned), typical = bandwidthOf(c, MemoryKind::Pageable);
    if (pinnedIsNoFaster(pinned, typical))
        return silent(
            message<"loader.pin_memory.no_faster", "Large copies reach {pageable} from pageable memory and {pinned} "
                                                   "from pinned memory (medians): pinning gains nothing.">(
                {{"pageable", typical.mid, fmt::format("{:.3g} GB/s", typical.mid)},
                 {"pinned", pinned.mid, fmt::format("{:.3g} GB/s", pinned.mid)}}));
    return finding(c, pageable, large);
}

} // namespace

Rule loader_pin_memory()
{
    return {kKey, "Batches are copied from pageable memory", check, Needs::Steps, TimePart::Copy | TimePart::Launch};
}

} // namespace advisor::rules
