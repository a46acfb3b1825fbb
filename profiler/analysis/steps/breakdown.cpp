#include "profiler/analysis/steps/breakdown.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace profiler::analysis {

namespace {

bool isAroundAStep(TimeRange range, const std::vector<Step>& steps)
{
    const auto first = std::lower_bound(steps.begin(), steps.end(), range.begin,
                                        [](const Step& step, TraceTime time) { return step.range.begin < time; });
    return first != steps.end() && first->range.end <= range.end;
}

Intervals annotationsInside(const Trace& trace, const std::vector<Step>& steps)
{
    Intervals all;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        UnionBuilder times;
        forEachViewOf(trace, track.id, ActivityKind::UserAnnotation, [&](const SliceView& slice) {
            if (!isProfilerStep(slice.name()) && !isAroundAStep(slice.range(), steps))
                times.add(slice.range());
        });
        all = unite(std::move(all), times.take());
    }
    return all;
}

std::array<Intervals, kTimeClasses> timesOf(const Trace& trace, const ActivityScan& scan,
                                            const std::vector<Step>& steps)
{
    std::array<Intervals, kTimeClasses> times;
    const auto at = [&](TimeClass timeClass) -> Intervals& { return times[static_cast<std::size_t>(timeClass)]; };
    for (const auto& [id, device] : scan.devices) {
        at(TimeClass::Kernel) = unite(std::move(at(TimeClass::Kernel)), device.kernels);
        at(TimeClass::Memcpy) = unite(std::move(at(TimeClass::Memcpy)), device.copies);
        at(TimeClass::Memset) = unite(std::move(at(TimeClass::Memset)), device.memsets);
        at(TimeClass::Communication) = unite(std::move(at(TimeClass::Communication)), device.communication);
    }
    at(TimeClass::Runtime) = scan.host.calls;
    at(TimeClass::DataLoader) = scan.host.dataWaits;
    at(TimeClass::CpuOp) = unite(scan.host.work, annotationsInside(trace, steps));
    return times;
}

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

std::string_view timeClassName(TimeClass timeClass)
{
    constexpr std::array<std::string_view, kTimeClasses> kNames = {"kernel",  "memcpy",      "memset", "communication",
                                                                   "runtime", "data_loader", "cpu_op", "other"};
    return kNames[static_cast<std::size_t>(timeClass)];
}

Breakdown breakdown(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps)
{
    std::vector<TimeRange> marks;
    for (const Step& step : steps)
        marks.push_back(step.range);
    Intervals rest = unite(std::move(marks));
    Breakdown result;
    result.total = total(rest);
    const std::array<Intervals, kTimeClasses> times = timesOf(trace, scan, steps);
    for (std::size_t i = 0; i < kTimeClasses; ++i) {
        result.time[i] = total(intersect(rest, times[i]));
        rest = subtract(rest, times[i]);
    }
    result.time[static_cast<std::size_t>(TimeClass::Other)] = total(rest);
    return result;
}

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
