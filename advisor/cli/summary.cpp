#include "advisor/cli/summary.h"

#include "profiler/analysis/activity_scan.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/step_marks.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <thread>

namespace advisor::cli {

namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::size_t kTopKernels = 10;
constexpr unsigned kMostWalkers = 8; // more share too few tracks

Summary::Counts countsOf(const ActivityScan& scan)
{
    const auto count = [&](ActivityKind kind) { return scan.of(kind).count; };
    return {.events = 0,
            .kernel = count(ActivityKind::Kernel),
            .memcpy = count(ActivityKind::GpuMemcpy),
            .memset = count(ActivityKind::GpuMemset),
            .runtime = count(ActivityKind::CudaRuntime) + count(ActivityKind::CudaDriver),
            .cpuOp = count(ActivityKind::CpuOp),
            .nvtx = count(ActivityKind::Nvtx)};
}

/// What an importer counted, as not each entry of a file becomes a slice of the kind that its file says.
std::int64_t counted(const Trace& trace, std::string_view key, std::int64_t otherwise)
{
    if (const auto entry = trace.metadata().find(key); entry != trace.metadata().end())
        std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), otherwise);
    return otherwise;
}

/// PyTorch's loader names its iterator; how many workers one with several has, its trace does not say.
std::optional<int> workersOf(const Trace& trace, const Summary& summary)
{
    if (trace.format() == "stepscope") // without steps no worker can be told from one that another run left behind
        return summary.statistics.steadyCount > 0 ? std::optional(summary.input.workers) : std::nullopt;
    const auto isOfMainThread = [](std::string_view name) {
        return name.starts_with("enumerate(DataLoader)#_SingleProcessDataLoaderIter");
    };
    return anyName(trace, isOfMainThread) ? std::optional(0) : std::nullopt;
}

} // namespace

Summary summaryOf(const Trace& trace, const std::function<std::vector<Step>()>& findSteps)
{
    // Steps are found while the slices are walked: neither needs the other.
    auto findingSteps = std::async(std::launch::async, findSteps);
    const ActivityScan scan =
        scanActivity(trace, std::min(std::max(std::thread::hardware_concurrency(), 1U), kMostWalkers));
    Summary summary;
    summary.counts = countsOf(scan);
    summary.counts.events = counted(trace, "source.events", static_cast<std::int64_t>(trace.sliceCount()));
    summary.counts.cpuOp += counted(trace, "source.marked_ops", 0); // older profilers mark steps by an operator
    summary.kernelUs = toUs(scan.of(ActivityKind::Kernel).time);
    summary.shortKernels = scan.shortKernels;
    summary.dataWaits = scan.dataWaits.count;
    summary.dataWaitUs = toUs(scan.dataWaits.time);
    summary.transfers = scan.transfers;
    summary.devices = deviceUse(trace, scan);
    summary.communication = communication(scan);
    summary.sync = syncUse(scan);
    summary.idle = idleCauses(scan);
    summary.topKernels = scan.kernels;
    summary.topKernels.resize(std::min(summary.topKernels.size(), kTopKernels));
    summary.steps = findingSteps.get();
    summary.statistics = stepStatistics(summary.steps);
    summary.ranks = markingProcesses(trace, summary.steps);
    summary.breakdown = breakdown(trace, scan, summary.steps);
    summary.input = inputWait(trace, summary.steps, deviceBusy(scan));
    summary.workers = workersOf(trace, summary);
    summary.memory = memoryMoments(trace);
    return summary;
}

} // namespace advisor::cli
