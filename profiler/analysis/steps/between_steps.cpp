#include "profiler/analysis/steps/between_steps.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace profiler::analysis {

namespace {

struct Found {
    TimeRange range;
    std::string_view name;
};

/// The phases of the steps' process, by start, outer ones first.
std::vector<Found> phasesOf(const Trace& trace, const std::vector<Step>& steps)
{
    const Phases names(trace);
    std::vector<bool> counts;
    for (const Track& track : trace.tracks())
        counts.push_back((track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread) &&
                         isOfSameProcess(trace, track, steps));
    std::vector<Found> found;
    for (const ActivityKind kind : {ActivityKind::Phase, ActivityKind::UserAnnotation})
        for (const Slice& slice : trace.ofKind(kind))
            if (counts[slice.id.track.value]) {
                const std::string_view known = names.of(slice);
                if (!known.empty() || kind == ActivityKind::Phase)
                    found.push_back({slice.range(), known.empty() ? trace.name(slice) : known});
            }
    std::ranges::sort(found, [](const Found& a, const Found& b) {
        return a.range.begin != b.range.begin ? a.range.begin < b.range.begin : a.range.end > b.range.end;
    });
    return found;
}

} // namespace

BetweenSteps betweenSteps(const Trace& trace, const std::vector<Step>& steps)
{
    BetweenSteps result;
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        ranges.push_back(step.range);
    const Intervals inside = unite(std::move(ranges));
    if (inside.empty())
        return result;
    const TimeRange span{inside.front().begin, inside.back().end};
    result.span = span.duration();
    result.time = result.other = result.span - total(inside);
    if (result.share() < kLeastBetweenSteps)
        return result;
    std::map<std::string_view, BetweenSteps::Phase> phases;
    TraceTime counted = span.begin; // time until then is attributed
    for (const Found& found : phasesOf(trace, steps)) {
        TimeRange part{std::max(found.range.begin, counted), std::min(found.range.end, span.end)};
        if (part.empty())
            continue;
        counted = part.end;
        Nanoseconds time = part.duration();
        for (const TimeRange& step : overlapping(inside, part))
            time -= step.clippedTo(part).duration();
        if (time.count() == 0)
            continue;
        BetweenSteps::Phase& phase = phases[found.name];
        phase.time += time;
        ++phase.count;
        result.other -= time;
    }
    for (auto& [name, phase] : phases) {
        phase.name = name;
        result.phases.push_back(std::move(phase));
    }
    std::ranges::stable_sort(result.phases, std::ranges::greater(), &BetweenSteps::Phase::time);
    return result;
}

} // namespace profiler::analysis
