#include "advisor/numbers.h"
#include "advisor/replay_saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device_use.h"
#include "profiler/analysis/phases.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "sync.every_n_steps";
// A loss and an accuracy are a few bytes; larger copies bring results home that are wanted.
constexpr std::int64_t kSmallBytes = 4096;
// Read every so many steps, nine tenths of the reading are gone; more delays metrics without winning much.
constexpr std::int64_t kEvery = 10;
constexpr double kWorthFixing = 0.02; // of the step: below, metrics that arrive late cost more than they win

struct Reading {
    double copiesPerStep = 0;
    double idleUs = 0;    ///< a step: the device does nothing after a small copy, and the step does not wait for data
    double blockedUs = 0; ///< of that, at most: the host waits for the device or reads metrics
    std::vector<SliceId> copies;
};

/// When the host is held up by reading back: synchronizing calls, blocking copies, waits, the metrics phase.
Intervals hostBlocked(const Trace& trace)
{
    std::vector<TimeRange> ranges;
    for (const ActivityKind kind :
         {ActivityKind::Sync, ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Phase})
        for (const Slice& slice : profiler::analysis::ofKindNamed(trace, kind, [kind](std::string_view name) {
                 return kind == ActivityKind::Sync || (kind == ActivityKind::Phase && name == phase::kMetrics) ||
                        (kind != ActivityKind::Phase && (isSyncCall(name) || isBlockingCopy(name)));
             }))
            ranges.push_back(slice.range());
    return unite(std::move(ranges));
}

Intervals dataWaits(const Trace& trace)
{
    const Phases phases(trace);
    std::vector<TimeRange> ranges;
    for (const Track& track : trace.tracks())
        forEachView(trace, track.id, [&](const SliceView& slice) {
            if (phases.isDataWait(slice))
                ranges.push_back(slice.range());
        });
    return unite(std::move(ranges));
}

/// The gap of `busy` that begins at or after `time`, when it begins at once: nothing ran behind the copy.
TimeRange gapAfter(const Intervals& busy, TraceTime time)
{
    const auto next =
        std::upper_bound(busy.begin(), busy.end(), time, [](TraceTime t, TimeRange range) { return t < range.begin; });
    if (next == busy.end() || (next != busy.begin() && std::prev(next)->end > time))
        return {time, time};
    return {time, next->begin};
}

Reading readBack(const Case& c)
{
    const Trace& trace = c.trace;
    const Intervals& busy = c.facts.device.any;
    const Intervals blocked = hostBlocked(trace);
    const Intervals waits = dataWaits(trace);
    const std::vector<Slice> copies = trace.ofKind(ActivityKind::GpuMemcpy);
    Reading reading;
    std::int64_t count = 0;
    Nanoseconds idle{0}, recoverable{0};
    for (const Step& step : c.facts.steps) {
        if (!isSteady(step))
            continue;
        std::vector<TimeRange> gaps;
        auto copy = std::lower_bound(copies.begin(), copies.end(), step.range.begin,
                                     [](const Slice& slice, TraceTime time) { return slice.begin < time; });
        for (; copy != copies.end() && copy->begin < step.range.end; ++copy) {
            if (copy->args.copy != CopyKind::DtoH || copy->args.bytes > kSmallBytes)
                continue;
            ++count;
            gaps.push_back(gapAfter(busy, copy->end()));
            reading.copies.push_back(copy->id);
        }
        const Intervals idleAfter = unite(std::move(gaps));
        const TimeRange all = idleAfter.empty() ? step.range : TimeRange{idleAfter.front().begin, idleAfter.back().end};
        const Nanoseconds after = total(subtract(idleAfter, overlapping(waits, all)));
        const std::vector<TimeRange> range{step.range};
        idle += after;
        recoverable += std::min(after, total(intersect(overlapping(blocked, step.range), range)));
    }
    const auto steps = static_cast<double>(c.facts.statistics.steadyCount);
    reading.copiesPerStep = static_cast<double>(count) / steps;
    reading.idleUs = toUs(idle) / steps;
    reading.blockedUs = toUs(recoverable) / steps;
    return reading;
}

std::string copiesText(const Reading& reading)
{
    return reading.copiesPerStep == 1 ? "1 small copy" : countText(reading.copiesPerStep) + " small copies";
}

/// @param kept  share of the readings that stay
Saving saving(const Case& c, const Reading& reading, double kept)
{
    const std::set<SliceId> copies(reading.copies.begin(), reading.copies.end());
    const auto dropWaits = [&](double factor) {
        return [&copies, factor](const ReplayWork& work) {
            const bool reads = work.waits && copies.contains(work.cause);
            return ReplayChange{.factor = reads ? factor : 1, .waits = !reads};
        };
    };
    if (auto replayed = savingByReplay(c, dropWaits(1), dropWaits(0)); replayed && replayed->high > 0)
        return perStep((1 - kept) * replayed->low, (1 - kept) * replayed->mid, (1 - kept) * replayed->high);
    // At least what the host waits meanwhile is won, at most all the idleness.
    const double low = (1 - kept) * reading.blockedUs;
    const double high = (1 - kept) * reading.idleUs;
    return perStep(low, (low + high) / 2, high);
}

Advice check(const Case& c)
{
    const std::int64_t every = c.config ? (*c.config)[config::key::syncEvery] : 1;
    if (ranOnCpu(c))
        return silent("The run was on the CPU: reading a value of a CPU tensor waits for nothing.");
    if (every == 0)
        return silent("Metrics are read back only at the end of an epoch.");
    if (every >= kEvery)
        return silent(fmt::format("Metrics are read back only every {} steps.", every));
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (!hasDeviceWork(c.trace))
        return cannotTell("The run asked for a GPU, but the trace holds nothing that ran there.");
    const Reading reading = readBack(c);
    const double stepUs = c.facts.statistics.steadyMeanUs;
    if (reading.idleUs < kWorthFixing * stepUs)
        return silent(fmt::format("The device idles for {} of {} after {} to the host.", timeText(reading.idleUs),
                                  timeText(stepUs), copiesText(reading)));
    Advice advice = fires(fmt::format("In each step the device idles for {} after {} to the host.",
                                      timeText(reading.idleUs), copiesText(reading)));
    // Reading every n-th step keeps one n-th of it.
    advice.saving = saving(c, reading, c.config ? static_cast<double>(every) / kEvery : 1.0 / kEvery);
    setToggle(advice, c, kKey, std::to_string(kEvery));
    advice.caveats = {fmt::format("Metrics arrive up to {} steps late.", kEvery),
                      "Keep the detached loss on the device between readings: keeping its graph leaks memory."};
    addEvidence(advice, c.trace, reading.copies);
    return advice;
}

} // namespace

Rule sync_every_n_steps()
{
    return {kKey, "Each step waits to read its metrics back", check};
}

} // namespace advisor::rules
