#include "profiler/analysis/steps/step_marks.h"

#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace profiler::analysis {

namespace {

bool mayMark(ActivityKind kind)
{
    return kind == ActivityKind::CpuOp || kind == ActivityKind::UserAnnotation || kind == ActivityKind::Nvtx ||
           kind == ActivityKind::Other || kind == ActivityKind::Phase || kind == ActivityKind::Step;
}

Step stepOf(const Slice& slice, std::int64_t index)
{
    Step step{.index = index, .range = slice.range(), .slice = slice.id, .parts = {}};
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

} // namespace

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

namespace {

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

} // namespace

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
    const bool ours = trace.format() != "pytorch-json" && !steps.empty() &&
                      trace.slice(steps.front().slice).kind == ActivityKind::Step;
    return !steps.empty() && steps.front().index > 0 && !ours;
}

} // namespace profiler::analysis
