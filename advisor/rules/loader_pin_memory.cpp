#include "advisor/evidence/plain_program.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.pin_memory";
// Of the time. Chosen: at less than half a percent, page-locked memory costs the host more than the copies take; an
// experiment calls no difference below one percent a gain.
constexpr double kWorthFixing = 0.005;
// Bytes. Published: copies of 64 KB or less return before they are done, from any memory (CUDA C++ Programming Guide,
// "Asynchronous Concurrent Execution"); they take about their launch's time.
constexpr std::int64_t kLargeCopy = 1 << 16;
// Chosen: quartiles of fewer copies are single copies.
constexpr std::size_t kFewestCopies = 5;

/// What large copies to the device reach, each by itself, 10⁹ bytes a second.
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

/// Most copies from pinned memory are no faster than the typical one from pageable memory.
bool pinnedIsNoFaster(const Bandwidth& pinned, const Bandwidth& pageable)
{
    return pinned.copies >= kFewestCopies && pinned.high <= pageable.mid;
}

/// The trace replayed with the pageable copies at the bandwidth that pinned copies reach in it: at least at their lower
/// quartile, while the call that copies takes as long as before; at most at their upper quartile, and the call takes no
/// time besides. No value where the trace does not show what pinned copies reach, or links too few launches.
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
        advice.whyNoPrediction = noStepMarks("what a step would save is not known");
    else if (!(advice.saving = savingByFasterCopies(c)))
        // No memory makes a copy take less than no time.
        advice.saving = upperBound(SavingUnit::UsPerStep, c.facts.device.usPerStep(pageable.ofADevice(pageable.time)));
}

/// Of the judged time, on the mean over the devices that they are on.
double shareOf(const RuleContext& c, const CopyUse& copies)
{
    const double window = toUs(c.facts.device.windowTime());
    return window > 0 ? toUs(copies.ofADevice(copies.time)) / window : 0;
}

/// What is small gains nothing.
Advice finding(const RuleContext& c, const CopyUse& pageable, const CopyUse& large)
{
    const auto us = [&](Nanoseconds sum) { return c.facts.device.usPerStep(large.ofADevice(sum)); };
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
                        "{large} of {copies} copies to the device are large and come from pageable memory: {time} "
                        "per step at {bandwidth}, {exposed} of it while no kernel runs.">(parameters)
              : message<"loader.pin_memory.without_steps",
                        "{large} of {copies} copies to the device are large and come from pageable memory: {share} "
                        "of the recorded time at {bandwidth}. The trace has no steps, so this is not per step.">(
                    parameters));
    advice.timeShare = shareOf(c, large);
    predict(advice, c, large);
    advice.caveats = {
        message<"loader.pin_memory.swap",
                "Pinned memory cannot be swapped out: do not use it where the host is short of memory.">(),
        message<"loader.pin_memory.overlap",
                "Copies overlap with computing only when transfer.non_blocking is on as well.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, large.longest);
    return advice;
}

/// A program that is no training as far as the trace tells: both directions count, and its first copies too.
Advice ofPlainProgram(const RuleContext& c)
{
    const HostCopies pageable = pageableHostCopies(c, kLargeCopy);
    const double window = toUs(c.facts.device.windowTime());
    const double share = window > 0 ? toUs(pageable.time) / static_cast<double>(pageable.devices.size()) / window : 0;
    if (share < kWorthFixing)
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
    advice.whyNoPrediction = message<"loader.pin_memory.plain.no_prediction",
                                     "Without steps there is nothing to count a saving in: measure it.">();
    advice.caveats = {
        message<"loader.pin_memory.plain.cost",
                "Pinned memory cannot be swapped out, and takes longer to allocate: allocate it once.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, pageable.copies);
    return advice;
}

/// What the run's settings say, before any copy is looked at.
std::optional<Advice> bySettings(const RuleContext& c)
{
    const bool pinned = c.config ? (*c.config)[config::key::pinMemory] : metadata(c.trace, kKey) == "true";
    if (!pinned)
        return std::nullopt;
    return silent(message<"loader.pin_memory.on", "The loader pins its batches already.">());
}

/// Which kind of memory the copies come from is not recorded, or proves nothing.
std::optional<Advice> withoutSource(const RuleContext& c, const CopyUse& pageable)
{
    const bool steps = !c.facts.device.steps.empty();
    if (copyUse(c, CopyKind::HtoD).count == 0)
        return silent(steps ? message<"loader.pin_memory.no_copies", "Nothing is copied from the host to a device.">()
                            : message<"loader.pin_memory.no_later_copies",
                                      "Nothing is copied from the host after the first kernel.">());
    if (pageable.count == 0 && copyUse(c, CopyKind::HtoD, MemoryKind::Unknown).count > 0)
        return cannotTell(message<"loader.pin_memory.source_not_recorded",
                                  "The trace does not record which kind of memory the copies come from.">(),
                          Need::CopySources);
    if (pageable.count == 0)
        return silent(message<"loader.pin_memory.all_pinned", "All copies to the device come from pinned memory.">());
    if (metadata(c.trace, "device.pageable_uses_host_page_tables") == "1")
        return cannotTell(message<"loader.pin_memory.host_page_tables",
                                  "The GPU reads the host's page tables: pageable memory alone proves nothing here.">(),
                          Need::Measurement);
    return std::nullopt;
}

Advice check(const RuleContext& c)
{
    if (auto advice = bySettings(c))
        return *advice;
    if (auto advice =
            withoutDeviceWork(c, message<"transfer.cpu", "The run was on the CPU: nothing is copied to a device.">()))
        return *advice;
    if (c.facts.device.steps.empty() && c.facts.device.kernels.empty())
        return cannotTell(message<"loader.pin_memory.no_kernels",
                                  "The trace has neither steps nor kernels: what the copies are for is not known.">(),
                          Need::Steps);
    if (isPlainProgram(c) && !pageableHostCopies(c, kLargeCopy).copies.empty() &&
        metadata(c.trace, "device.pageable_uses_host_page_tables") != "1")
        return ofPlainProgram(c);
    const CopyUse pageable = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable);
    if (auto advice = withoutSource(c, pageable))
        return *advice;
    const CopyUse large = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable, kLargeCopy);
    const double pageableShare = shareOf(c, pageable), share = shareOf(c, large);
    if (large.count == 0 && pageable.bytes == 0 && pageableShare >= kWorthFixing)
        return cannotTell(
            message<"loader.pin_memory.size_not_recorded",
                    "{copies} copies from pageable memory take {share} of the time, but the trace does not "
                    "record their sizes.">(
                {{"copies", pageable.count}, {"share", pageableShare, shareText(pageableShare)}}),
            Need::CopySources);
    if (large.count == 0)
        return silent(message<"loader.pin_memory.small",
                              "Copies from pageable memory are small: they take as long from pinned memory.">());
    if (share < kWorthFixing)
        return silent(
            message<"loader.pin_memory.rare", "Large copies from pageable memory take only {share} of the time.">(
                {{"share", share, shareText(share)}}));
    const Bandwidth pinned = bandwidthOf(c, MemoryKind::Pinned), typical = bandwidthOf(c, MemoryKind::Pageable);
    if (pinnedIsNoFaster(pinned, typical))
        return silent(message<"loader.pin_memory.no_faster",
                              "Large copies reach {pageable} from pageable memory and {pinned} from pinned memory "
                              "(medians): pinning gains nothing.">(
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
