#include "profiler/analysis/breakdown.h"

#include "profiler/analysis/intervals.h"

namespace profiler::analysis {

namespace {

std::array<Intervals, kTimeClasses> timesOf(const ActivityScan& scan)
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
    at(TimeClass::CpuOp) = scan.host.work;
    return times;
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
    return breakdown(scanActivity(trace), steps);
}

Breakdown breakdown(const ActivityScan& scan, const std::vector<Step>& steps)
{
    std::vector<TimeRange> marks;
    for (const Step& step : steps)
        marks.push_back(step.range);
    Intervals rest = unite(std::move(marks));
    Breakdown result;
    result.total = total(rest);
    const std::array<Intervals, kTimeClasses> times = timesOf(scan);
    for (std::size_t i = 0; i < kTimeClasses; ++i) {
        result.time[i] = total(intersect(rest, times[i]));
        rest = subtract(rest, times[i]);
    }
    result.time[static_cast<std::size_t>(TimeClass::Other)] = total(rest);
    return result;
}

} // namespace profiler::analysis
