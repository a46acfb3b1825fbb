#include "advisor/evidence/plain_program.h"
#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.pin_memory";
// Of the step: below, page-locked memory costs the host more than the copies do.
constexpr double kWorthFixing = 0.005;
// Smaller copies take their launch's time, and say nothing of the link.
constexpr std::int64_t kLargeCopy = 1 << 16;

/// What copies from pinned memory reach in this trace, 10⁹ bytes a second; 0 without any that are large.
double pinnedBandwidth(const Case& c)
{
    double best = 0;
    for (const Slice& copy : c.facts.device.copies)
        if (copy.args.copy == CopyKind::HtoD && copy.args.src == MemoryKind::Pinned && copy.args.bytes >= kLargeCopy &&
            copy.duration.count() > 0)
            best = std::max(best, static_cast<double>(copy.args.bytes) / static_cast<double>(copy.duration.count()));
    return best;
}

void predict(Advice& advice, const Case& c, const CopyUse& pageable)
{
    const double pinned = pinnedBandwidth(c);
    if (c.facts.device.steps.empty()) {
        advice.whyNoPrediction = noStepMarks("what a step would save is not known");
        return;
    }
    if (pinned <= pageable.gbPerSecond()) {
        advice.whyNoPrediction =
            "No large copy from pinned memory in this trace shows what the link can do: measure it.";
        return;
    }
    // The part of the copies' time that the faster link saves; of it, what no kernel hides is sure to be won.
    const double saved = 1 - pageable.gbPerSecond() / pinned;
    const Nanoseconds exposed = std::min(pageable.exposed, pageable.time);
    const double low = saved * c.facts.device.usPerStep(pageable.ofADevice(exposed));
    const double high = saved * c.facts.device.usPerStep(pageable.ofADevice(pageable.time));
    advice.saving = perStep(low, (low + high) / 2, high);
}

/// Of the judged time, on the mean over the devices that they are on.
double shareOf(const Case& c, const CopyUse& copies)
{
    const double window = toUs(c.facts.device.windowTime());
    return window > 0 ? toUs(copies.ofADevice(copies.time)) / window : 0;
}

/// "12 copies to the device from pageable memory, 6 of them large: these take"
std::string countedText(const CopyUse& pageable, const CopyUse& large)
{
    const auto copies = [](std::int64_t count) {
        return fmt::format("{} cop{}", countText(count), count == 1 ? "y" : "ies");
    };
    const std::string to = large.devices > 1 ? fmt::format("{} devices", large.devices) : std::string("the device");
    const std::string part = large.count < pageable.count
                                 ? fmt::format(", {} of them large: these take", countText(large.count))
                                 : std::string(":");
    return fmt::format("{} to {} from pageable memory{}", copies(pageable.count), to, part);
}

/// What is small gains nothing.
Advice finding(const Case& c, const CopyUse& pageable, const CopyUse& large)
{
    const auto text = [&](Nanoseconds sum) { return timeText(c.facts.device.usPerStep(large.ofADevice(sum))); };
    Advice advice =
        fires(fmt::format("{} {} {}{}, {:.3g} GB/s, {} of it while no kernel runs.", countedText(pageable, large),
                          text(large.time), c.facts.device.steps.empty() ? "in all" : "a step",
                          large.devices > 1 ? " for each of them" : "", large.gbPerSecond(), text(large.exposed)));
    advice.concerns = shareOf(c, large);
    predict(advice, c, large);
    advice.caveats = {"Pinned memory cannot be swapped out: not where the host is short of memory.",
                      "Only with a GPU; copies overlap computing only when transfer.non_blocking is on as well."};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, large.longest);
    return advice;
}

/// A program that is no training as far as the trace tells: both directions count, and its first copies too.
Advice ofPlainProgram(const Case& c)
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
    advice.concerns = share;
    advice.whyNoPrediction = message<"loader.pin_memory.plain.no_prediction",
                                     "Without steps there is nothing to count a saving in: measure it.">();
    advice.caveats = {
        message<"loader.pin_memory.plain.cost",
                "Pinned memory cannot be swapped out, and takes longer to allocate: allocate it once.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, pageable.copies);
    return advice;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::pinMemory])
        return silent("Batches are in pinned memory already.");
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: nothing is copied to a device."))
        return *advice;
    if (c.facts.device.steps.empty() && c.facts.device.kernels.empty())
        return cannotTell("Neither steps nor kernels were recorded: whether the copies feed a training is not known.");
    if (isPlainProgram(c) && !pageableHostCopies(c, kLargeCopy).copies.empty() &&
        metadata(c.trace, "device.pageable_uses_host_page_tables") != "1")
        return ofPlainProgram(c);
    const CopyUse all = copyUse(c, CopyKind::HtoD);
    const CopyUse pageable = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable);
    if (all.count == 0)
        return silent(c.facts.device.steps.empty() ? "Nothing is copied from the host once a device computes."
                                                   : "Nothing is copied from the host to a device.");
    if (pageable.count == 0 && copyUse(c, CopyKind::HtoD, MemoryKind::Unknown).count > 0)
        return cannotTell("The trace does not say from which kind of memory the copies come.");
    if (pageable.count == 0)
        return silent("All copies to the device come from pinned memory.");
    if (metadata(c.trace, "device.pageable_uses_host_page_tables") == "1")
        return cannotTell("The GPU reads the host's page tables: pageable memory alone proves nothing here.");
    const CopyUse large = copyUse(c, CopyKind::HtoD, MemoryKind::Pageable, kLargeCopy);
    if (large.count == 0 && pageable.bytes == 0 && shareOf(c, pageable) >= kWorthFixing)
        return cannotTell(fmt::format("{} {} of the time, but the trace does not say how many bytes they move.",
                                      countedText(pageable, pageable), shareText(shareOf(c, pageable))));
    if (large.count == 0)
        return silent("What is copied from pageable memory is small: it takes its launch's time from any memory.");
    const double share = shareOf(c, large);
    if (share < kWorthFixing)
        return silent(fmt::format("Large copies from pageable memory take only {} of the time.", shareText(share)));
    return finding(c, pageable, large);
}

} // namespace

Rule loader_pin_memory()
{
    return {kKey, "Batches are copied from pageable memory", check, Needs::Steps, TimePart::Copy | TimePart::Launch};
}

} // namespace advisor::rules
