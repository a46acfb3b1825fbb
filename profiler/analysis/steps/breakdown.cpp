#include "profiler/analysis/steps/breakdown.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_view.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>

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

} // namespace profiler::analysis
