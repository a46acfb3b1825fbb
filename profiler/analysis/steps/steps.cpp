#include "profiler/analysis/steps/steps.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/operators/self_times.h"
#include "profiler/analysis/percentile.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/backward_passes.h"
#include "profiler/analysis/steps/inferred_phases.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_marks.h"
#include "profiler/analysis/steps/warmup.h"

#include <algorithm>
#include <map>
#include <set>

namespace profiler::analysis {

namespace {

bool isInterruption(std::string_view phase)
{
    return phase == phase::kValidation || phase == phase::kWorkerStart;
}

Nanoseconds& partOf(StepParts& parts, std::string_view phase)
{
    struct Row {
        std::string_view name;
        Nanoseconds StepParts::*part;
    };
    static constexpr Row kRows[] = {
        {phase::kDataWait, &StepParts::dataWait},   {phase::kCopy, &StepParts::copy},
        {phase::kForward, &StepParts::forward},     {phase::kBackward, &StepParts::backward},
        {phase::kOptimizer, &StepParts::optimizer}, {phase::kZeroGrad, &StepParts::zeroGrad},
        {phase::kMetrics, &StepParts::metrics},
    };
    for (const Row& row : kRows)
        if (row.name == phase)
            return parts.*row.part;
    return parts.other;
}

/// The last step that started at or before `time`.
std::size_t stepAt(const std::vector<Step>& steps, TraceTime time)
{
    const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                        [](TraceTime t, const Step& step) { return t < step.range.begin; });
    return after == steps.begin() ? steps.size() : static_cast<std::size_t>(after - steps.begin()) - 1;
}

/// Results from the phases of the steps' track: parts, and the starts of epochs.
struct PhaseFacts {
    std::vector<bool> epochStart, interrupted;
};

/// @param i  the last step that started before it, or the number of steps
void markInterruption(PhaseFacts& facts, std::size_t i, std::size_t steps, bool insideStep, bool startsWorkers)
{
    if (insideStep)
        facts.interrupted[i] = true;
    // Workers start in or before the first step of an epoch; a validation ends an epoch.
    const std::size_t first = insideStep && startsWorkers ? i : i < steps ? i + 1 : 0;
    if (first < steps)
        facts.epochStart[first] = true;
}

PhaseFacts readPhases(const Trace& trace, const Phases& names, TrackId track, std::vector<Step>& steps)
{
    PhaseFacts facts{std::vector<bool>(steps.size()), std::vector<bool>(steps.size())};
    const std::vector<Slice> phases =
        sortedWhere(trace, track, [&](const SliceView& slice) { return !names.of(slice).empty(); });
    std::map<std::size_t, std::int64_t> batches; // batch number of each step, from its data wait
    forEachNested(phases, [&](const Nested& nested) {
        const std::string_view name = names.of(*nested.slice);
        const std::size_t i = stepAt(steps, nested.slice->begin);
        const bool inside = i < steps.size() && nested.slice->begin < steps[i].range.end;
        if (isInterruption(name))
            markInterruption(facts, i, steps.size(), inside, name == phase::kWorkerStart);
        const bool withinInterruption =
            std::any_of(nested.around.begin(), nested.around.end(),
                        [&](const Slice* outer) { return isInterruption(names.of(*outer)); });
        if (!inside || isInterruption(name) || withinInterruption)
            return;
        partOf(steps[i].parts, name) +=
            std::min(nested.self, nested.slice->range().clippedTo(steps[i].range).duration());
        if (name == phase::kDataWait && nested.slice->kind == ActivityKind::Phase)
            batches[i] = nested.slice->args.value;
    });
    for (auto batch = batches.begin(); batch != batches.end() && std::next(batch) != batches.end(); ++batch)
        if (std::next(batch)->second < batch->second)
            facts.epochStart[std::next(batch)->first] = true;
    return facts;
}

/// Marks steps during which another rank validates: if only one rank does, the others wait for it, in a barrier or in a
/// collective of their next step. No rank waits for a process that only evaluates and has no steps.
void markOtherValidations(const Trace& trace, const std::vector<Step>& steps, std::vector<bool>& interrupted)
{
    if (std::ranges::all_of(trace.tracks(), [&](const Track& track) { return isOfSameProcess(trace, track, steps); }))
        return;
    std::set<std::int64_t> ranks;
    for (const Slice& step : trace.ofKind(ActivityKind::Step))
        if (const Track& track = trace.track(step.id.track); !isOfSameProcess(trace, track, steps))
            ranks.insert(track.pid);
    Intervals validations;
    for (const Slice& phase : trace.ofKind(ActivityKind::Phase))
        if (trace.name(phase) == phase::kValidation && ranks.contains(trace.track(phase.id.track).pid))
            validations.push_back(phase.range());
    std::ranges::sort(validations, {}, &TimeRange::begin);
    // Several processes may validate at once, so the ranges may overlap, but each step needs only one of them.
    auto first = validations.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        while (first != validations.end() && first->end <= steps[i].range.begin)
            ++first;
        interrupted[i] = interrupted[i] || (first != validations.end() && first->begin < steps[i].range.end);
    }
}

/// Adds the time of `phase` inside each step to one of its parts.
void addInside(const Intervals& phase, Nanoseconds StepParts::*part, std::vector<Step>& steps)
{
    auto first = phase.begin();
    for (Step& step : steps) {
        while (first != phase.end() && first->end <= step.range.begin)
            ++first;
        for (auto inside = first; inside != phase.end() && inside->begin < step.range.end; ++inside)
            step.parts.*part += inside->clippedTo(step.range).duration();
    }
}

/// Adds the parts that have no marks on the steps' thread: waiting for autograd's threads, the forward pass, copies and
/// reads of values.
void addUnmarked(const Trace& trace, const Phases& names, TrackId track, std::vector<Step>& steps)
{
    const Intervals backward = backwardPasses(trace, names, track);
    addInside(backward, &StepParts::backward, steps);
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        ranges.push_back(step.range);
    const InferredPhases inferred = inferPhases(trace, names, track, ranges, backward);
    addInside(inferred.forward, &StepParts::forward, steps);
    addInside(inferred.copy, &StepParts::copy, steps);
    addInside(inferred.metrics, &StepParts::metrics, steps);
}

/// Any operator on any host thread of the process suffices, so a step with ops costs only a look at its first slices.
void markOps(const Trace& trace, std::vector<Step>& steps)
{
    for (const Track& track : trace.tracks()) {
        if ((track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread) ||
            !isOfSameProcess(trace, track, steps))
            continue;
        for (Step& step : steps)
            if (!step.opsRecorded)
                trace.forEach(track.id, step.range, [&](const Slice& slice) {
                    step.opsRecorded = slice.kind == ActivityKind::CpuOp && slice.begin >= step.range.begin &&
                                       !isProfilerStep(trace.name(slice));
                    return !step.opsRecorded;
                });
    }
}

void addParts(StepParts& sum, const StepParts& parts)
{
    sum.dataWait += parts.dataWait;
    sum.copy += parts.copy;
    sum.forward += parts.forward;
    sum.backward += parts.backward;
    sum.optimizer += parts.optimizer;
    sum.zeroGrad += parts.zeroGrad;
    sum.metrics += parts.metrics;
    sum.other += parts.other;
}

StepParts dividedBy(const StepParts& sum, std::int64_t count)
{
    return {sum.dataWait / count,  sum.copy / count,     sum.forward / count, sum.backward / count,
            sum.optimizer / count, sum.zeroGrad / count, sum.metrics / count, sum.other / count};
}

Nanoseconds namedTime(const StepParts& parts)
{
    return parts.dataWait + parts.copy + parts.forward + parts.backward + parts.optimizer + parts.zeroGrad +
           parts.metrics;
}

} // namespace

std::vector<Step> findSteps(const Trace& trace, std::string_view range)
{
    return withParts(trace, stepMarks(trace, range));
}

std::vector<Step> withParts(const Trace& trace, std::vector<Step> steps)
{
    if (steps.empty())
        return steps;
    const TrackId track = steps.front().slice.track;
    const Phases names(trace);
    PhaseFacts phases = readPhases(trace, names, track, steps);
    markOtherValidations(trace, steps, phases.interrupted);
    addUnmarked(trace, names, track, steps);
    for (Step& step : steps)
        step.parts.other = step.range.duration() - namedTime(step.parts);
    markOps(trace, steps);
    markWarmup(steps, phases.epochStart, phases.interrupted, beginInTheMiddle(trace, steps));
    markOneTimeWork(trace, steps);
    return steps;
}

StepStatistics stepStatistics(const std::vector<Step>& steps)
{
    StepStatistics statistics;
    std::vector<double> all, steady;
    StepParts sum;
    for (const Step& step : steps) {
        all.push_back(toUs(step.range.duration()));
        if (!isSteady(step))
            continue;
        steady.push_back(all.back());
        addParts(sum, step.parts);
    }
    statistics.count = static_cast<std::int64_t>(all.size());
    statistics.steadyCount = static_cast<std::int64_t>(steady.size());
    if (all.empty())
        return statistics;
    statistics.meanUs = mean(all);
    statistics.minUs = *std::min_element(all.begin(), all.end());
    statistics.maxUs = *std::max_element(all.begin(), all.end());
    statistics.medianUs = percentile(all, 0.5);
    statistics.p90Us = percentile(std::move(all), 0.9);
    statistics.steadyMeanUs = mean(steady);
    if (!steady.empty())
        statistics.steadyMeanParts = dividedBy(sum, statistics.steadyCount);
    return statistics;
}

} // namespace profiler::analysis
