#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <string_view>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.persistent_workers";
// Minimum share of an epoch. Chosen: the smallest effect that an experiment reports as a gain (1 %).
constexpr double kMinimumShare = 0.01;
struct Start {
    Slice slice;
    double gapUs = 0;   ///< unmarked time before the start, in which the previous epoch's workers exit
    double startUs = 0; ///< until the workers deliver at their usual rate
    double mostUs = 0;  ///< upper bound of the saving with persistent workers, because new processes load their first
                        ///< samples slowly
    double epochUs = 0; ///< to the next worker start or the end of the trace
};

std::vector<Slice> byBegin(const RuleContext& c, std::string_view phase)
{
    auto slices = ofKindNamed(c.trace, ActivityKind::Phase, [&](std::string_view name) { return name == phase; });
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    return slices;
}

/// Start times of samples in the workers, on any track.
std::vector<TraceTime> samplesBegun(const Trace& trace)
{
    std::vector<TraceTime> begun;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::LoaderWorker)
            forEachViewOf(trace, track.id, ActivityKind::LoaderStage,
                          [&](const SliceView& stage) { begun.push_back(stage.begin()); });
    std::sort(begun.begin(), begun.end());
    return begun;
}

/// Sets the duration of a worker start. Persistent workers also load the first batch of an epoch, so the start lasts
/// until the workers begin loading it, if that is recorded. Otherwise, it lasts until the first wait ends, and only the
/// part of that wait beyond the usual wait counts.
void setDurations(Start& start, TraceTime next, const std::vector<TraceTime>& begun, const std::vector<Slice>& waits,
                  double usualWaitUs)
{
    const double us = toUs(start.slice.duration);
    start.startUs = start.mostUs = us;
    const auto wait = std::find_if(waits.begin(), waits.end(), [&](const Slice& each) {
        return each.end() > start.slice.end() && each.begin < next;
    });
    if (wait != waits.end()) {
        const double waitUs = toUs(std::min(wait->duration, wait->end() - start.slice.end()));
        start.mostUs += std::max(0.0, waitUs - usualWaitUs);
    }
    const auto first = std::lower_bound(begun.begin(), begun.end(), start.slice.begin);
    const bool recorded = first != begun.end() && *first < next;
    start.startUs = recorded ? std::max(us, toUs(*first - start.slice.begin)) : start.mostUs;
    start.mostUs = std::max(start.mostUs, start.startUs);
}

/// End times of the steps and phases of a track.
std::vector<TraceTime> endsOn(const RuleContext& c, TrackId track)
{
    std::vector<TraceTime> ends;
    for (const ActivityKind kind : {ActivityKind::Step, ActivityKind::Phase})
        for (const Slice& slice : c.trace.ofKind(kind))
            if (slice.id.track == track)
                ends.push_back(slice.end());
    std::sort(ends.begin(), ends.end());
    return ends;
}

/// Unmarked time before `time` in µs.
double gapBefore(const std::vector<TraceTime>& ends, TraceTime time)
{
    const auto after = std::upper_bound(ends.begin(), ends.end(), time);
    return after == ends.begin() ? 0 : toUs(time - *std::prev(after));
}

/// Worker starts of training epochs after the first, which has to start the workers anyway. Workers of a validation are
/// not included.
std::vector<Start> laterStarts(const RuleContext& c)
{
    std::vector<Slice> starts = byBegin(c, phase::kWorkerStart);
    std::vector<Slice> waits = byBegin(c, phase::kDataWait);
    const Intervals validating = validations(c.trace);
    for (std::vector<Slice>* phases : {&starts, &waits})
        std::erase_if(*phases, [&](const Slice& phase) { return beginsWithin(phase, validating); });
    std::vector<double> usual;
    for (const Slice& wait : waits)
        usual.push_back(toUs(wait.duration));
    const double usualUs = percentile(std::move(usual), 0.5);
    const std::vector<TraceTime> begun = samplesBegun(c.trace);
    const std::vector<TraceTime> ends = starts.empty() ? std::vector<TraceTime>() : endsOn(c, starts[0].id.track);
    std::vector<Start> found;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        const TraceTime next = i + 1 < starts.size() ? starts[i + 1].begin : c.trace.range().end;
        Start start{
            .slice = starts[i], .gapUs = gapBefore(ends, starts[i].begin), .epochUs = toUs(next - starts[i].begin)};
        setDurations(start, next, begun, waits, usualUs);
        found.push_back(start);
    }
    return found;
}

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true" || metadata(c.trace, kKey) == "true")
        return silent(message<"loader.persistent_workers.on", "Workers already persist between epochs.">());
    if (hadNoWorkers(c))
        return silent(
            message<"loader.persistent_workers.no_workers", "No loader workers are used, so none can persist.">());
    const std::vector<Start> starts = laterStarts(c);
    if (starts.empty())
        return cannotTell(message<"loader.persistent_workers.one_epoch",
                                  "The trace does not contain a second epoch that starts workers.">(),
                          Need::SecondEpoch);
    double startUs = 0, mostUs = 0, epochUs = 0;
    for (const Start& start : starts) {
        startUs += start.startUs / static_cast<double>(starts.size());
        mostUs += (start.mostUs + start.gapUs) / static_cast<double>(starts.size());
        epochUs += start.epochUs / static_cast<double>(starts.size());
    }
    if (startUs < kMinimumShare * epochUs)
        return silent(
            message<"loader.persistent_workers.short", "Starting workers takes only {time} of an epoch of {epoch}.">(
                {{"time", startUs, timeText(startUs)}, {"epoch", epochUs, timeText(epochUs)}}));
    Advice advice = fires(
        message<"loader.persistent_workers.restart",
                "Each epoch ({epoch}) starts new workers: it takes {time} until they deliver at their usual rate.">(
            {{"time", startUs, timeText(startUs)}, {"epoch", epochUs, timeText(epochUs)}, {"starts", starts.size()}}));
    advice.saving = upperBound(SavingUnit::UsPerEpoch, mostUs);
    advice.timeShare = std::min(1.0, startUs / epochUs);
    advice.caveats = {
        message<"loader.persistent_workers.memory",
                "Persistent workers keep their copy of the dataset, and anything it caches, for the whole run.">()};
    advice.measure = "epoch";
    setToggle(advice, c, kKey, "true");
    std::vector<SliceId> evidence;
    for (const Start& start : starts)
        evidence.push_back(start.slice.id);
    addEvidence(advice, c.trace, evidence);
    return advice;
}

} // namespace

Rule loader_persistent_workers()
{
    return {kKey, "Each epoch restarts its loader workers", check, Needs::Run};
}

} // namespace advisor::rules
