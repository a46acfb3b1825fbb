#include "profiler/analysis/breakdown.h"

#include "profiler/analysis/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/phases.h"

#include <optional>

namespace profiler::analysis {

namespace {

std::optional<TimeClass> hostClass(const Phases& phases, const Slice& slice)
{
    if (phases.isDataWait(slice))
        return TimeClass::DataLoader;
    switch (slice.kind) {
    case ActivityKind::CudaRuntime:
    case ActivityKind::CudaDriver:
    case ActivityKind::Sync:
        return TimeClass::Runtime;
    case ActivityKind::Phase:
    case ActivityKind::CpuOp:
        return TimeClass::CpuOp;
    default:
        return std::nullopt;
    }
}

std::optional<TimeClass> classOf(const Trace& trace, const Phases& phases, const Track& track, const Slice& slice)
{
    if (track.kind == TrackKind::LoaderWorker)
        return std::nullopt;
    switch (slice.kind) {
    case ActivityKind::Kernel:
        return isCommunication(trace.name(slice)) ? TimeClass::Communication : TimeClass::Kernel;
    case ActivityKind::GpuMemcpy:
        return TimeClass::Memcpy;
    case ActivityKind::GpuMemset:
        return TimeClass::Memset;
    default:
        return hostClass(phases, slice);
    }
}

} // namespace

std::string_view timeClassName(TimeClass timeClass)
{
    constexpr std::array<std::string_view, kTimeClasses> kNames = {"kernel",  "memcpy",      "memset", "communication",
                                                                   "runtime", "data_loader", "cpu_op", "other"};
    return kNames[static_cast<std::size_t>(timeClass)];
}

Breakdown breakdown(const Trace& trace, const std::vector<Step>& steps)
{
    std::vector<TimeRange> marks;
    for (const Step& step : steps)
        marks.push_back(step.range);
    Intervals rest = unite(std::move(marks));
    Breakdown result;
    result.total = total(rest);

    const Phases phases(trace);
    std::array<std::vector<TimeRange>, kTimeClasses> ranges;
    for (const Track& track : trace.tracks())
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            if (const auto timeClass = classOf(trace, phases, track, slice))
                ranges[static_cast<std::size_t>(*timeClass)].push_back(slice.range());
            return true;
        });
    for (std::size_t i = 0; i < kTimeClasses; ++i) {
        const Intervals covered = unite(std::move(ranges[i]));
        result.time[i] = total(intersect(rest, covered));
        rest = subtract(rest, covered);
    }
    result.time[static_cast<std::size_t>(TimeClass::Other)] = total(rest);
    return result;
}

} // namespace profiler::analysis
