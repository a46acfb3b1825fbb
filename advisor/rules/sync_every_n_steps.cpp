#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/python_frame.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "sync.every_n_steps";
// Loss and accuracy are a few bytes; larger copies return results that the program needs.
constexpr std::int64_t kSmallBytes = 4096;
// Reading every tenth step removes 90 % of the reads; a larger interval delays metrics without much gain.
constexpr std::int64_t kEvery = 10;
// Minimum share of the step: below it, late metrics cost more than they gain.
constexpr double kMinimumShare = 0.02;

/// The ways in which a step waits for its device.
enum Way : std::uint8_t { Copies, RoundTrips, Syncs, kWays };

struct Reading {
    std::array<double, kWays> count{}, idleOf{}; ///< per step; µs
    double idleUs = 0;           ///< per step: time that the device idles after the wait while the step does not wait
                                 ///< for data
    double waitedUs = 0;         ///< per step: time that the host waits for the device or a copy
    double dataUs = 0;           ///< per step: time that the step waits for data
    double deviceIdleUs = 0;     ///< per step: time that the device idles, whatever the cause
    std::size_t steps = 0;       ///< steady steps that contain such waits
    std::vector<SliceId> slices; ///< copies and synchronizing calls; those after which the device idles longest come
                                 ///< first
    std::vector<Nanoseconds> idleBehind; ///< idle time directly after each of the slices
    std::optional<Saving> won;           ///< per step, without all of these waits, according to a replay
    double lostUs = 0; ///< per step: time that the device idles until the host is ahead again; at least idleUs
    [[nodiscard]] Way foremost() const
    {
        return static_cast<Way>(std::max_element(idleOf.begin(), idleOf.end()) - idleOf.begin());
    }
};

bool isCopyCall(std::string_view call)
{
    return call.find("emcpy") != call.npos;
}

/// Times in which the host may wait for a device: synchronizing calls, copies, waits, the metrics phase.
Intervals hostWaits(const Trace& trace)
{
    std::vector<TimeRange> ranges;
    for (const ActivityKind kind :
         {ActivityKind::Sync, ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Phase})
        for (const Slice& slice : profiler::analysis::ofKindNamed(trace, kind, [&](std::string_view name) {
                 return kind == ActivityKind::Sync || (kind == ActivityKind::Phase && name == phase::kMetrics) ||
                        (kind != ActivityKind::Phase && (isSyncCall(name) || isCopyCall(name)));
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

/// Idle time that the attribution assigns to causes other than reads: data, memory, warm-up, work in the launch queue.
Intervals idleForOthers(const RuleContext& c)
{
    Intervals others;
    for (const std::string_view cause :
         {"data_loader", "allocation", "warm_up", "lazy_loading", "queued", "end_of_run"})
        if (const IdleCause* idle = c.facts.device.idleCause(cause))
            for (const auto& [device, where] : idle->everywhere)
                others = unite(std::move(others), where);
    return others;
}

/// The gap of `busy` that begins directly after `time`: no other work ran after the copy.
TimeRange gapAfter(const Intervals& busy, TraceTime time)
{
    const auto next =
        std::upper_bound(busy.begin(), busy.end(), time, [](TraceTime t, TimeRange range) { return t < range.begin; });
    if (next == busy.end() || (next != busy.begin() && std::prev(next)->end > time))
        return {time, time};
    return {time, next->begin};
}

/// The gap of `busy` that begins while the call waits: the device had no work left.
TimeRange gapWithin(const Intervals& busy, TimeRange call)
{
    const auto next = std::upper_bound(busy.begin(), busy.end(), call.end,
                                       [](TraceTime time, TimeRange range) { return time < range.end; });
    if (next == busy.begin() || next == busy.end() || std::prev(next)->end <= call.begin)
        return {call.end, call.end};
    return {std::prev(next)->end, next->begin};
}

/// True if about as many bytes are copied back to the device soon, in the same step.
bool isRoundTrip(std::span<const Slice> copies, const Slice& home)
{
    return std::any_of(copies.begin(), copies.end(), [&](const Slice& copy) {
        return copy.args.copy == CopyKind::HtoD && copy.begin >= home.end() && 2 * copy.args.bytes >= home.args.bytes &&
               copy.args.bytes <= 2 * home.args.bytes;
    });
}

/// Everything in the trace that may leave the devices without work.
struct Waiting {
    std::vector<Slice> copies;    ///< sorted by start
    std::vector<Slice> syncs;     ///< host calls that wait for a device, sorted by start
    std::set<TraceTime> toDevice; ///< ends of copies to a device: a host that waits for one of these needs to copy a
                                  ///< batch
};

Waiting waiting(const Trace& trace)
{
    Waiting found;
    found.copies = trace.ofKind(ActivityKind::GpuMemcpy);
    for (const Slice& copy : found.copies)
        if (copy.args.copy == CopyKind::HtoD)
            found.toDevice.insert(copy.end());
    for (const ActivityKind kind : {ActivityKind::Sync, ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call : ofKindNamed(
                 trace, kind, [kind](std::string_view name) { return kind == ActivityKind::Sync || isSyncCall(name); }))
            found.syncs.push_back(call);
    std::stable_sort(found.syncs.begin(), found.syncs.end(),
                     [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    return found;
}

/// The slices that begin in the step.
std::span<const Slice> beginningIn(const std::vector<Slice>& slices, TimeRange step)
{
    const auto before = [](const Slice& slice, TraceTime time) { return slice.begin < time; };
    const auto first = std::lower_bound(slices.begin(), slices.end(), step.begin, before);
    return {first, std::lower_bound(first, slices.end(), step.end, before)};
}

/// Adds the waits of one step and returns the gaps that follow them, per way.
std::array<Intervals, kWays> gapsIn(const RuleContext& c, const Waiting& all, TimeRange step, Reading& reading)
{
    const Intervals& busy = c.facts.device.any;
    std::array<std::vector<TimeRange>, kWays> gaps;
    std::set<TraceTime> counted;
    const auto add = [&](Way way, TimeRange gap, SliceId slice) {
        ++reading.count[way];
        const bool first = counted.insert(gap.begin).second;
        reading.slices.push_back(slice);
        reading.idleBehind.push_back(first ? gap.duration() : Nanoseconds{0});
        if (first)
            gaps[way].push_back(gap);
    };
    const std::span<const Slice> copies = beginningIn(all.copies, step);
    for (const Slice& copy : copies) {
        if (copy.args.copy != CopyKind::DtoH)
            continue;
        if (copy.args.bytes <= kSmallBytes)
            add(Copies, gapAfter(busy, copy.end()), copy.id);
        else if (isRoundTrip(copies, copy))
            add(RoundTrips, gapAfter(busy, copy.end()), copy.id);
    }
    for (const Slice& call : beginningIn(all.syncs, step)) {
        const TimeRange gap = gapWithin(busy, call.range());
        if (!gap.empty() && !all.toDevice.contains(gap.begin) && !counted.contains(gap.begin))
            add(Syncs, gap, call.id);
    }
    std::array<Intervals, kWays> united;
    for (std::size_t way = 0; way < kWays; ++way)
        united[way] = unite(std::move(gaps[way]));
    return united;
}

void longestFirst(Reading& reading)
{
    std::vector<std::pair<Nanoseconds, SliceId>> rows;
    for (std::size_t i = 0; i < reading.slices.size(); ++i)
        rows.emplace_back(reading.idleBehind[i], reading.slices[i]);
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::tie(reading.idleBehind[i], reading.slices[i]) = rows[i];
}

/// The steady steps; for a trace without steps, the whole analysis window.
std::vector<TimeRange> analyzedRanges(const RuleContext& c)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : c.facts.steps)
        if (isSteady(step))
            ranges.push_back(onHost(step));
    return c.facts.steps.empty() ? c.facts.device.window : ranges;
}

Reading readBack(const RuleContext& c)
{
    const Intervals waited = hostWaits(c.trace);
    const Intervals waits = dataWaits(c.trace), others = idleForOthers(c);
    const Waiting all = waiting(c.trace);
    Reading reading;
    const std::vector<TimeRange> ranges = analyzedRanges(c);
    const auto steps = static_cast<double>(ranges.size());
    for (const TimeRange& step : ranges) {
        Nanoseconds after{0};
        const std::size_t before = reading.slices.size();
        const auto gaps = gapsIn(c, all, step, reading);
        for (std::size_t way = 0; way < kWays; ++way) {
            const Nanoseconds idle = total(subtract(gaps[way], others));
            reading.idleOf[way] += toUs(idle) / steps;
            after += idle;
        }
        const std::vector<TimeRange> range{step};
        const auto inStep = [&](const Intervals& times) { return total(intersect(overlapping(times, step), range)); };
        reading.idleUs += toUs(after) / steps;
        reading.waitedUs += toUs(inStep(waited)) / steps;
        reading.dataUs += toUs(inStep(waits)) / steps;
        reading.deviceIdleUs += toUs(step.duration() - inStep(c.facts.device.any)) / steps;
        reading.steps += reading.slices.size() > before;
    }
    for (double& count : reading.count)
        count /= steps;
    longestFirst(reading);
    return reading;
}

/// "1 small copy to the host and 2 calls that wait for the GPU".
std::string waysText(const Reading& reading)
{
    constexpr std::array<std::array<std::string_view, 2>, kWays> kWords = {
        {{"small copy to the host", "small copies to the host"},
         {"copy to the host and back", "copies to the host and back"},
         {"call that waits for the GPU", "calls that wait for the GPU"}}};
    std::string text;
    for (std::size_t way = 0; way < kWays; ++way)
        if (reading.count[way] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : " and ", countText(reading.count[way]),
                                kWords[way][reading.count[way] == 1 ? 0 : 1]);
    return text;
}

/// A replay in which the host does not wait at these slices.
/// @param factor the remaining share of the duration of the waiting calls
WhatIf dropWaits(const Reading& reading, double factor)
{
    const auto slices = std::make_shared<std::set<SliceId>>(reading.slices.begin(), reading.slices.end());
    return [slices, factor](const ReplayWork& work) {
        const bool reads = work.waits && (slices->contains(work.cause) || slices->contains(work.slice));
        return ReplayChange{.factor = reads ? factor : 1, .waits = !reads};
    };
}

/// The batches come from processes that the trace does not contain: without its other waits, the step may have to wait
/// for data.
bool dataMayComeLater(const RuleContext& c, const Reading& reading)
{
    const bool known = hasKind(c.trace, ActivityKind::LoaderStage) || anyName(c.trace, [](std::string_view name) {
                           return name.starts_with("enumerate(DataLoader)#_SingleProcess");
                       });
    return !known && reading.dataUs >= kMinimumShare * c.facts.statistics.steadyMeanUs;
}

/// A host that is no longer ahead of the device causes many small gaps, not only a gap directly after the wait.
void findLost(const RuleContext& c, Reading& reading)
{
    const double minimum = kMinimumShare * c.facts.statistics.steadyMeanUs;
    reading.lostUs = reading.idleUs;
    if (reading.idleUs < minimum && reading.waitedUs < minimum) // the gain is at most the time that the host waited
        return;
    reading.won = savingByReplay(c, dropWaits(reading, 1), dropWaits(reading, 0));
    if (reading.won && !dataMayComeLater(c, reading))
        reading.lostUs = std::max(reading.idleUs, std::min(reading.won->mid, reading.deviceIdleUs));
}

/// @param kept share of the reads that remain
Saving saving(const Reading& reading, double kept)
{
    // Without a replay, a step takes at least as long as its device work.
    Saving saved =
        reading.won && reading.won->high > 0 ? *reading.won : upperBound(SavingUnit::UsPerStep, reading.deviceIdleUs);
    for (double* us : {&saved.low, &saved.mid, &saved.high})
        *us *= 1 - kept;
    return saved;
}

/// True if gradients are computed and the program itself does the reading: a gradient scaler also reads a flag in each
/// step.
bool mayReadMetrics(const RuleContext& c, const Reading& reading)
{
    if (c.config)
        return true;
    return reading.foremost() == Copies && c.facts.statistics.steadyMeanParts.backward.count() > 0 &&
           !anyName(c.trace, [](std::string_view name) { return name.starts_with("aten::_amp_foreach_non_finite"); });
}

/// The calls that launched these copies, by correlation id.
std::unordered_map<std::uint64_t, Slice> copyCalls(const Trace& trace, std::span<const SliceId> ids)
{
    std::unordered_set<std::uint64_t> wanted;
    for (const SliceId id : ids)
        if (const Slice slice = trace.slice(id); isDeviceWork(slice.kind) && slice.correlation.value != 0)
            wanted.insert(slice.correlation.value);
    std::unordered_map<std::uint64_t, Slice> calls;
    if (wanted.empty())
        return calls;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call :
             ofKindNamed(trace, kind, [](std::string_view name) { return name.find("emcpy") != name.npos; }))
            if (wanted.contains(call.correlation.value))
                calls.emplace(call.correlation.value, call);
    return calls;
}

std::string callerOf(const Trace& trace, const Slice& call)
{
    std::optional<Slice> op, frame;
    bool isFrameOfPytorch = false;
    trace.forEach(call.id.track, call.range(), [&](const Slice& slice) {
        if (slice.begin > call.begin || slice.end() < call.end())
            return true;
        const std::string_view name = trace.name(slice);
        const bool isOp = slice.kind == ActivityKind::CpuOp && !isProfilerStep(name) && phaseOfRange(name).empty();
        if (isOp && (!op || slice.duration > op->duration))
            op = slice;
        if (const auto function = pythonFrame(name)) {
            const bool isOfPytorch = analysis::isOfPytorch(function->file);
            if (!frame || std::pair(isOfPytorch, slice.duration) < std::pair(isFrameOfPytorch, frame->duration)) {
                frame = slice;
                isFrameOfPytorch = isOfPytorch;
            }
        }
        return true;
    });
    std::string text(op ? trace.name(*op) : std::string_view());
    if (frame)
        text += fmt::format("{}{}", op ? " in " : "", trace.name(*frame));
    return text;
}

/// The callers of API calls, or of copies that a call launched: the outermost operator around the call, and the
/// innermost Python frame, from the user's own code if there is one. Empty if neither is recorded, or if the call of
/// the copy is not recorded.
std::vector<std::string> callersOf(const Trace& trace, std::span<const SliceId> ids)
{
    const auto calls = copyCalls(trace, ids);
    std::vector<std::string> callers;
    for (const SliceId id : ids) {
        const Slice slice = trace.slice(id);
        const auto call = isDeviceWork(slice.kind) ? calls.find(slice.correlation.value) : calls.end();
        if (!isDeviceWork(slice.kind))
            callers.push_back(callerOf(trace, slice));
        else
            callers.push_back(call != calls.end() ? callerOf(trace, call->second) : std::string());
    }
    return callers;
}

/// The caller whose waits are followed by the longest idle time of the device.
std::string mainCaller(const Trace& trace, const Reading& reading)
{
    // Only the longest waits: more of them add no information.
    constexpr std::size_t kMost = 64;
    const std::size_t count = std::min(kMost, reading.slices.size());
    const auto callers = callersOf(trace, std::span(reading.slices).first(count));
    std::vector<std::pair<std::string, Nanoseconds>> sums;
    for (std::size_t i = 0; i < count; ++i) {
        auto row = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == callers[i]; });
        if (row == sums.end())
            row = sums.insert(row, {callers[i], Nanoseconds{0}});
        row->second += reading.idleBehind[i];
    }
    return std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

/// "The GPU idles 10.7 ms per step after 1 call that waits for the GPU (mine::timing): 915 µs at once, then until the
/// CPU is ahead again."
Message reasonOf(const RuleContext& c, const Reading& reading)
{
    // Relative to the idle time directly after the waits: above this, the total is reported separately.
    constexpr double kMuch = 1.1;
    constexpr double kShows = 1; // µs
    const std::string caller = mainCaller(c.trace, reading);
    const MessageParameter idle{"idle", reading.lostUs, timeText(reading.lostUs)};
    const MessageParameter ways{"ways", waysText(reading) + (caller.empty() ? "" : " (" + caller + ")")};
    if (reading.lostUs <= kMuch * reading.idleUs)
        return message<"sync.every_n_steps.idle", "The GPU idles {idle} per step after {ways}.">({idle, ways});
    if (reading.idleUs < kShows)
        return message<"sync.every_n_steps.lead", "The GPU idles {idle} per step after {ways}, until the CPU is ahead "
                                                  "again.">({idle, ways});
    return message<"sync.every_n_steps.idle_and_lead",
                   "The GPU idles {idle} per step after {ways}: {first} at once, then until the CPU is ahead again.">(
        {idle, ways, {"first", reading.idleUs, timeText(reading.idleUs)}});
}

/// For a trace without steps: shares of the analysis window. One or two waits are not a pattern.
Advice withoutSteps(const RuleContext& c, const Reading& reading)
{
    constexpr std::size_t kFewest = 3;
    const double allUs = toUs(c.facts.device.windowTime());
    const double share = allUs > 0 ? std::min(1.0, reading.idleUs / allUs) : 0;
    const MessageParameter shown{"share", share, shareText(share)};
    if (reading.slices.size() < kFewest || share < kMinimumShare)
        return silent(
            message<"sync.every_n_steps.little_without_steps",
                    "The GPU idles {share} of the recorded time after reads and waits. The trace has no steps, so "
                    "this is not per step.">({shown}));
    Advice advice = fires(message<"sync.every_n_steps.without_steps",
                                  "The GPU idles {share} of the recorded time after {ways}. The trace has no steps, so "
                                  "this is not per step.">({shown, {"ways", waysText(reading)}}));
    advice.title = reading.foremost() == Syncs ? "The program often waits until the GPU is done"
                                               : "The program often waits to read values back";
    advice.timeShare = share;
    advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    advice.caveats = {message<"sync.every_n_steps.needed",
                              "Only if the program can do without the value or the wait, or needs it less often.">()};
    setToggle(advice, c, kKey, std::to_string(kEvery));
    addEvidence(advice, c.trace, reading.slices);
    return advice;
}

Advice finding(const RuleContext& c, const Reading& reading, std::int64_t every)
{
    Advice advice = fires(reasonOf(c, reading));
    advice.timeShare = std::min(1.0, reading.lostUs / c.facts.statistics.steadyMeanUs);
    addEvidence(advice, c.trace, reading.slices);
    setToggle(advice, c, kKey, std::to_string(kEvery));
    if (mayReadMetrics(c, reading)) {
        // Reading every n-th step keeps 1/n of the reads.
        advice.saving = saving(reading, c.config ? static_cast<double>(every) / kEvery : 1.0 / kEvery);
        advice.caveats = {
            message<"sync.every_n_steps.late", "Metrics arrive up to {steps} steps late.">({{"steps", kEvery}}),
            message<"sync.every_n_steps.detach",
                    "Keep the detached loss on the GPU between reads: keeping its graph leaks memory.">()};
        return advice;
    }
    // The trace does not show whether the program can do without the wait.
    const auto bound = boundByReplay(c, dropWaits(reading, 0));
    advice.saving = bound && bound->high > 0 ? *bound : upperBound(SavingUnit::UsPerStep, reading.deviceIdleUs);
    switch (reading.foremost()) {
    case RoundTrips:
        advice.title = "Each step copies data to the host and back";
        advice.caveats = {
            message<"sync.every_n_steps.on_gpu", "Only if the GPU can compute what the CPU does with the data.">()};
        break;
    case Syncs:
        advice.title = "Each step waits until the device is done";
        advice.caveats = {
            message<"sync.every_n_steps.events", "To measure time, use CUDA events: they need no wait.">()};
        break;
    default:
        advice.title = "Each step waits to read a value back";
        advice.caveats = {
            message<
                "sync.every_n_steps.decide",
                "A decision that depends on the value can be made on the GPU, or from what the CPU already knows.">(),
            message<"sync.every_n_steps.scaler",
                    "A gradient scaler reads one flag per step, which cannot be avoided.">()};
    }
    return advice;
}

Advice check(const RuleContext& c)
{
    const std::int64_t every = c.config ? (*c.config)[config::key::syncEvery] : 1;
    if (ranOnCpu(c))
        return silent(
            message<"sync.every_n_steps.cpu", "The run used only the CPU, where reading a value needs no wait.">());
    if (every == 0)
        return silent(message<"sync.every_n_steps.per_epoch", "Metrics are read back only at the end of an epoch.">());
    if (every >= kEvery)
        return silent(message<"sync.every_n_steps.seldom", "Metrics are read back only every {steps} steps.">(
            {{"steps", every}}));
    if (c.config || !c.facts.steps.empty() || !hasDeviceWork(c.trace))
        if (auto advice = withoutSteadySteps(c))
            return *advice;
    if (!hasDeviceWork(c.trace))
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    Reading reading = readBack(c);
    if (c.facts.steps.empty())
        return withoutSteps(c, reading);
    const double stepUs = c.facts.statistics.steadyMeanUs;
    if (reading.slices.empty())
        return silent(message<"sync.every_n_steps.none",
                              "No step reads from the GPU or waits for it in a way that leaves the GPU idle.">());
    if (const auto steps = static_cast<std::size_t>(c.facts.statistics.steadyCount);
        !c.config && 2 * reading.steps < steps)
        return silent(
            message<"sync.every_n_steps.some_steps",
                    "Only {some} of {steps} steps read from the GPU or wait for it in a way that leaves the GPU idle.">(
                {{"some", reading.steps}, {"steps", steps}}));
    findLost(c, reading);
    if (reading.lostUs < kMinimumShare * stepUs)
        return silent(
            message<"sync.every_n_steps.little", "The GPU idles only {idle} of each {step} step after {ways}.">(
                {{"idle", reading.lostUs, timeText(reading.lostUs)},
                 {"step", stepUs, timeText(stepUs)},
                 {"ways", waysText(reading)}}));
    return finding(c, reading, every);
}

} // namespace

Rule sync_every_n_steps()
{
    return {kKey, "Each step waits to read its metrics back", check, Needs::Steps,
            TimePart::Sync | TimePart::Launch | TimePart::Copy};
}

} // namespace advisor::rules
