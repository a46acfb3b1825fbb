#include "profiler/analysis/steps/steps.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/device_steps.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/warm_up.h"
#include "profiler/model/track_slices.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

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
    ranges.reserve(steps.size());
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

/// Marks by another tool than Stepscope.
bool areOfAnotherTool(const Trace& trace, const std::vector<Step>& steps)
{
    return trace.format() == "pytorch-json" || trace.slice(steps.front().slice).kind != ActivityKind::Step;
}

/// PyTorch's profiler begins a step as soon as the previous one ends, so its last mark may be of a step that never
/// ran: shorter than the others, and the only one without operators.
void markStepThatNeverRan(const Trace& trace, std::vector<Step>& steps)
{
    if (steps.size() < 2 || steps.front().found || !areOfAnotherTool(trace, steps) || steps.back().opsRecorded)
        return;
    const Nanoseconds last = steps.back().range.duration();
    steps.back().partial = std::all_of(steps.begin(), steps.end() - 1, [last](const Step& step) {
        return step.opsRecorded && step.range.duration() > last;
    });
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

bool mayMark(ActivityKind kind)
{
    return kind == ActivityKind::CpuOp || kind == ActivityKind::UserAnnotation || kind == ActivityKind::Nvtx ||
           kind == ActivityKind::Other || kind == ActivityKind::Phase || kind == ActivityKind::Step;
}

Step stepOf(const Slice& slice, std::int64_t index)
{
    Step step{.index = index, .range = slice.range(), .slice = slice.id, .parts = {}, .mark = {}};
    step.partial = slice.is(slice_flag::kOpen);
    return step;
}

using MarksByTrack = std::map<std::uint32_t, std::vector<Step>>;

/// Orders threads with equally many marks, independently of the file's order: the one that starts first comes first.
bool comesBefore(const Trace& trace, const MarksByTrack::value_type& a, const MarksByTrack::value_type& b)
{
    const auto key = [&](const MarksByTrack::value_type& row) {
        const Track& track = trace.track(TrackId{row.first});
        return std::tuple(row.second.front().range.begin, track.pid, track.tid);
    };
    return key(a) < key(b);
}

/// Of threads with equally many marks: the one that loads data and runs the optimizer, otherwise the first to start.
MarksByTrack::iterator trainingThread(const Trace& trace, MarksByTrack& marks)
{
    if (marks.size() == 1)
        return marks.begin();
    const Phases phases(trace);
    std::size_t most = 0;
    auto best = marks.begin();
    for (auto row = marks.begin(); row != marks.end(); ++row) {
        std::size_t found = 0;
        forEachView(trace, TrackId{row->first}, [&](const SliceView& slice) {
            const std::string_view phase = phases.of(slice);
            found += phase == phase::kOptimizer || phases.isDataWait(slice) ? 1 : 0;
        });
        if (found > most || (found == most && comesBefore(trace, *row, *best))) {
            most = found;
            best = row;
        }
    }
    return best;
}

/// The marks of the thread with the most; of several such threads, the one that trains.
std::vector<Step> withMost(const Trace& trace, MarksByTrack marks)
{
    std::size_t most = 0;
    for (const auto& [track, steps] : marks)
        most = std::max(most, steps.size());
    std::erase_if(marks, [most](const auto& row) { return row.second.size() < most; });
    return marks.empty() ? std::vector<Step>() : std::move(trainingThread(trace, marks)->second);
}

/// Marks by name on host tracks, from the track with the most; of nested marks, the outer ones.
template <class IsMark>
std::vector<Step> namedMarks(const Trace& trace, IsMark&& isMark)
{
    std::vector<char> marks(trace.stringCount());
    bool any = false;
    for (std::uint32_t id = 0; id < marks.size(); ++id) {
        marks[id] = isMark(trace.string(StringId{id}));
        any = any || marks[id] != 0;
    }
    MarksByTrack found;
    for (const Track& track : any ? trace.tracks() : std::span<const Track>()) {
        if (track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation || track.kind == TrackKind::Counter)
            continue;
        std::vector<Step> steps;
        forEachView(trace, track.id, [&](const SliceView& slice) {
            if (marks[slice.nameId().value] == 0 || !mayMark(slice.kind()))
                return;
            const auto position = static_cast<std::int64_t>(steps.size());
            steps.push_back(stepOf(slice.slice(), numberOf(slice.name()).value_or(position)));
        });
        std::stable_sort(steps.begin(), steps.end(),
                         [](const Step& a, const Step& b) { return a.range.begin < b.range.begin; });
        TraceTime covered{Nanoseconds::min()};
        std::erase_if(steps, [&](const Step& step) {
            const bool nested = step.range.end <= covered;
            covered = std::max(covered, step.range.end);
            return nested;
        });
        if (!steps.empty())
            found[track.id.value] = std::move(steps);
    }
    return withMost(trace, std::move(found));
}

/// True if a thread has marks of the same kind as `steps`, during these steps.
bool marksAlike(const Trace& trace, const Track& track, const std::vector<Step>& steps)
{
    if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
        return false;
    const Slice mark = trace.slice(steps.front().slice);
    const std::string_view name = withoutNumber(trace.name(mark));
    bool found = false;
    trace.forEach(track.id, {steps.front().range.begin, steps.back().range.end}, [&](const Slice& slice) {
        found = slice.kind == mark.kind && withoutNumber(trace.name(slice)) == name;
        return !found;
    });
    return found;
}

struct Mark {
    std::int64_t begin = 0;
    std::uint32_t args = 0; ///< index of its arguments, which contain the step number
};

bool isNewer(const Mark& a, const Mark& b)
{
    return a.begin > b.begin;
}

/// Adds the newest marks of a block, up to `most`.
void addNewest(const TrackBlock& block, std::size_t most, std::vector<Mark>& marks)
{
    const std::size_t before = marks.size();
    for (std::uint32_t position = block.size(); position > 0 && marks.size() - before < most; --position)
        if (block.columns.kind(position - 1) == ActivityKind::Step) {
            const RawSlice slice = block.at(position - 1);
            marks.push_back({slice.begin, slice.args});
        }
}

/// The newest marks of a track, newest first, up to `most`.
std::vector<Mark> newestMarks(const TrackSlices& slices, std::size_t most)
{
    std::vector<const BlockRef*> blocks;
    for (const BlockRef& block : slices.blocks)
        if (block.summary().holds(ActivityKind::Step))
            blocks.push_back(&block);
    std::sort(blocks.begin(), blocks.end(),
              [](const BlockRef* a, const BlockRef* b) { return a->summary().lastEnd > b->summary().lastEnd; });
    std::vector<Mark> marks;
    for (const BlockRef* ref : blocks) {
        if (marks.size() == most && ref->summary().lastEnd <= marks.back().begin)
            break;
        if (const BlockPin block = ref->pin())
            addNewest(*block, most, marks);
        std::sort(marks.begin(), marks.end(), isNewer);
        marks.resize(std::min(marks.size(), most));
    }
    return marks;
}

std::size_t slicesFrom(const Trace& trace, std::int64_t begin, std::size_t most)
{
    std::size_t count = 0;
    for (const Track& track : trace.tracks()) {
        count += trace.beginIn(track.id, {traceTime(begin), traceTime(RawSlice::kTimeLimit)}, most);
        if (count > most)
            break;
    }
    return count;
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
    markOps(trace, steps);
    markStepThatNeverRan(trace, steps);
    measureOnDevice(trace, steps);
    for (Step& step : steps) {
        if (step.mark && namedTime(step.parts) > step.range.duration()) // the device is faster than the CPU was
            step.parts = {};
        step.parts.other = step.range.duration() - namedTime(step.parts);
    }
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

std::vector<Step> stepMarks(const Trace& trace, std::string_view range)
{
    if (!range.empty())
        return namedMarks(trace, [range](std::string_view name) { return isOfRange(name, range); });
    // A profiler that runs in several threads marks the same steps in each. The marks of the thread with the most
    // count.
    MarksByTrack marks;
    for (const Slice& slice : trace.ofKind(ActivityKind::Step))
        marks[slice.id.track.value].push_back(stepOf(slice, slice.args.value));
    if (marks.empty())
        return namedMarks(trace, isProfilerStep);
    // A profiler may record the same step both as an operator and as an annotation.
    for (auto& [track, steps] : marks)
        steps.erase(std::unique(steps.begin(), steps.end(),
                                [](const Step& a, const Step& b) { return a.index == b.index && a.range == b.range; }),
                    steps.end());
    return withMost(trace, std::move(marks));
}

int markingProcesses(const Trace& trace, const std::vector<Step>& steps)
{
    if (steps.empty() || steps.front().found)
        return 1;
    std::set<std::int64_t> processes{trace.track(steps.front().slice.track).pid};
    for (const Track& track : trace.tracks())
        if (track.pid != 0 && !processes.contains(track.pid) && marksAlike(trace, track, steps))
            processes.insert(track.pid);
    return static_cast<int>(processes.size());
}

bool isOfOtherSteps(const Trace& trace, std::int64_t process, const std::vector<Step>& steps)
{
    if (steps.empty() || steps.front().found)
        return false;
    const std::int64_t own = trace.track(steps.front().slice.track).pid;
    return own != 0 && process != 0 && process != own && std::ranges::any_of(trace.tracks(), [&](const Track& track) {
               return track.pid == process && marksAlike(trace, track, steps);
           });
}

bool isOfSameProcess(const Trace& trace, const Track& track, const std::vector<Step>& steps)
{
    const std::int64_t own = steps.empty() ? 0 : trace.track(steps.front().slice.track).pid;
    return own == 0 || track.pid == 0 || track.pid == own;
}

bool beginInTheMiddle(const Trace& trace, const std::vector<Step>& steps)
{
    return !steps.empty() && steps.front().index > 0 && areOfAnotherTool(trace, steps);
}

std::vector<TimeRange> steadyStateSteps(const std::vector<Step>& steps, bool all)
{
    const bool anySteady = std::any_of(steps.begin(), steps.end(), isSteady);
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (all || !anySteady || isSteady(step))
            ranges.push_back(step.range);
    return ranges;
}

bool AnalysedPart::holds(TraceTime begin) const
{
    return window.empty() || beginsWithin(begin, window);
}

bool AnalysedPart::holdsOnHost(TraceTime begin) const
{
    return host.empty() || beginsWithin(begin, host);
}

AnalysedPart analysedPart(const std::vector<Step>& steps)
{
    std::vector<Step> marks = steps;
    for (Step& step : marks)
        step.range = onHost(step);
    std::vector<TimeRange> ranges = steadyStateSteps(steps);
    const std::size_t count = ranges.size();
    return {unite(std::move(ranges)), unite(steadyStateSteps(marks)), count};
}

std::optional<LastSteps> lastSteps(const Trace& trace, const LastStepsLimit& limit)
{
    std::vector<Mark> marks;
    for (const Track& track : trace.tracks()) {
        // One more than needed, to see whether there are older ones.
        std::vector<Mark> ofTrack = newestMarks(trace.slicesOf(track.id), limit.steps + 1);
        if (ofTrack.size() > marks.size())
            marks = std::move(ofTrack);
    }
    if (marks.size() <= limit.least)
        return std::nullopt;
    // Binary search for the largest number of steps that fits: more steps contain more slices.
    std::size_t fits = limit.least, tooMany = marks.size();
    while (fits + 1 < tooMany) {
        const std::size_t some = fits + (tooMany - fits) / 2;
        (slicesFrom(trace, marks[some - 1].begin, limit.slices + 1) <= limit.slices ? fits : tooMany) = some;
    }
    return LastSteps{.begin = traceTime(marks[fits - 1].begin),
                     .count = static_cast<std::int64_t>(fits),
                     .newest = trace.args(marks.front().args).value};
}

} // namespace profiler::analysis
