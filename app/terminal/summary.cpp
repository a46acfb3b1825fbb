#include "app/terminal/summary.h"

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <future>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::size_t kTopKernels = 10;
constexpr unsigned kMostWalkers = 8; // beyond this number, only a few tracks benefit

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

/// Numbers as counted by the importer, because not every entry of a file becomes a slice of the kind in the file.
std::int64_t counted(const Trace& trace, std::string_view key, std::int64_t otherwise)
{
    if (const auto entry = trace.metadata().find(key); entry != trace.metadata().end())
        std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), otherwise);
    return otherwise;
}

/// PyTorch's profiler records the name of the loader iterator, but not the number of workers.
std::optional<int> workersOf(const Trace& trace, const Summary& summary)
{
    // A recording that began after the workers has none of their work.
    const auto used = trace.metadata().find("loader.workers");
    if (summary.input.workers == 0 && used != trace.metadata().end() && used->second != "0")
        return std::nullopt;
    if (trace.format() == "stepscope") // without steps, workers cannot be distinguished from those of another run
        return summary.statistics.steadyCount > 0 ? std::optional(summary.input.workers) : std::nullopt;
    const auto isOfMainThread = [](std::string_view name) {
        return name.starts_with("enumerate(DataLoader)#_SingleProcessDataLoaderIter");
    };
    return anyName(trace, isOfMainThread) ? std::optional(0) : std::nullopt;
}

void addTo(Breakdown& sum, const Breakdown& more)
{
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        sum.time[i] += more.time[i];
    sum.total += more.total;
}

void addTo(std::vector<IdleCause>& sum, std::vector<IdleCause> more)
{
    for (IdleCause& cause : more) {
        const auto known = std::ranges::find(sum, cause.cause, &IdleCause::cause);
        if (known == sum.end())
            sum.push_back(std::move(cause));
        else
            known->time += cause.time;
    }
    std::ranges::stable_sort(sum, std::greater(), &IdleCause::time);
}

/// Figures of each rank. In the figures of the job, values that would mix one rank's host with another rank's devices
/// are avoided: the breakdown and idle time are sums over ranks; steps and loader are those of the slowest rank.
void summarizeRanks(const Trace& trace, unsigned threads, Summary& summary)
{
    std::vector<Rank> ranks = ranksOf(trace, summary.steps);
    if (ranks.empty())
        return;
    const std::int64_t slowest = representativeRank(ranks, trace, summary.steps).process;
    Breakdown whole;
    std::vector<IdleCause> idle;
    for (Rank& rank : ranks) {
        const ActivityScan scan = scanActivity(*rank.trace, threads);
        Summary::RankSummary row;
        row.statistics = stepStatistics(rank.steps);
        row.devices = deviceUse(*rank.trace, scan);
        row.breakdown = breakdown(*rank.trace, scan, rank.steps);
        row.communication = communication(scan);
        addTo(whole, row.breakdown);
        addTo(idle, idleCauses(scan));
        if (rank.process == slowest) {
            summary.slowestRank = summary.ranks.size();
            if (!rank.steps.empty()) {
                summary.steps = rank.steps;
                summary.statistics = row.statistics;
                summary.between = betweenSteps(*rank.trace, rank.steps);
                summary.input = inputWait(*rank.trace, rank.steps, deviceBusy(scan));
            }
        }
        row.rank = std::move(rank);
        summary.ranks.push_back(std::move(row));
    }
    if (whole.total.count() > 0)
        summary.breakdown = whole;
    if (!summary.ranks.front().rank.sharesDevices)
        summary.idle = std::move(idle);
}

} // namespace

namespace {

/// Everything that depends on neither the steps nor the number of ranks.
Summary scanSummary(const Trace& trace, const ActivityScan& scan)
{
    Summary summary;
    summary.counts = countsOf(scan);
    summary.counts.events = counted(trace, "source.events", static_cast<std::int64_t>(trace.sliceCount()));
    summary.counts.cpuOp += counted(trace, "source.marked_ops", 0); // older profilers mark steps with an operator
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
    return summary;
}

void addSteps(const Trace& trace, const ActivityScan& scan, std::vector<Step> steps, Summary& summary)
{
    summary.steps = std::move(steps);
    summary.statistics = stepStatistics(summary.steps);
    summary.between = betweenSteps(trace, summary.steps);
    summary.breakdown = breakdown(trace, scan, summary.steps);
    summary.input = inputWait(trace, summary.steps, deviceBusy(scan));
}

} // namespace

Summary summaryOf(const Trace& trace, const std::function<std::vector<Step>()>& findSteps)
{
    // Steps are found in parallel with the scan: neither depends on the other.
    auto findingSteps = std::async(std::launch::async, findSteps);
    const unsigned threads = std::min(std::max(std::thread::hardware_concurrency(), 1U), kMostWalkers);
    const ActivityScan scan = scanActivity(trace, threads);
    Summary summary = scanSummary(trace, scan);
    summary.topKernels.resize(std::min(summary.topKernels.size(), kTopKernels));
    addSteps(trace, scan, findingSteps.get(), summary);
    summarizeRanks(trace, threads, summary);
    summary.workers = workersOf(trace, summary);
    summary.memory = memoryMoments(trace);
    summary.memoryUse = memoryOverTime(trace);
    return summary;
}

Summary rankSummaryOf(const Trace& trace, const ActivityScan& scan, std::vector<Step> steps)
{
    Summary summary = scanSummary(trace, scan);
    for (KernelTotal& kernel : summary.topKernels)
        kernel.longest.reset(); // refers to the trace, which does not stay open
    addSteps(trace, scan, std::move(steps), summary);
    for (IdleCause& cause : summary.idle) {
        cause.where.clear();
        cause.everywhere.clear();
    }
    summary.workers = workersOf(trace, summary);
    summary.memory = memoryMoments(trace);
    return summary;
}

void addTo(Summary& sum, const Summary& more)
{
    sum.counts.events += more.counts.events;
    sum.counts.kernel += more.counts.kernel;
    sum.counts.memcpy += more.counts.memcpy;
    sum.counts.memset += more.counts.memset;
    sum.counts.runtime += more.counts.runtime;
    sum.counts.cpuOp += more.counts.cpuOp;
    sum.counts.nvtx += more.counts.nvtx;
    sum.kernelUs += more.kernelUs;
    sum.shortKernels += more.shortKernels;
    sum.dataWaits += more.dataWaits;
    sum.dataWaitUs += more.dataWaitUs;
    for (const Transfer& row : more.transfers) {
        const auto known = std::ranges::find_if(sum.transfers, [&](const Transfer& other) {
            return other.kind == row.kind && other.src == row.src && other.dst == row.dst;
        });
        if (known == sum.transfers.end()) {
            sum.transfers.push_back(row);
            continue;
        }
        known->count += row.count;
        known->bytes += row.bytes;
        known->time += row.time;
    }
    sum.devices.insert(sum.devices.end(), more.devices.begin(), more.devices.end());
    addTo(sum.breakdown, more.breakdown);
    addTo(sum.idle, more.idle);
    sum.communication.kernels += more.communication.kernels;
    sum.communication.time += more.communication.time;
    sum.communication.exposed += more.communication.exposed;
    sum.sync.calls += more.sync.calls;
    sum.sync.time += more.sync.time;
    sum.sync.blockingCopies += more.sync.blockingCopies;
    sum.sync.blockingCopyTime += more.sync.blockingCopyTime;
    std::unordered_map<std::string_view, std::size_t> names;
    for (std::size_t i = 0; i < sum.topKernels.size(); ++i)
        names.emplace(sum.topKernels[i].name, i);
    const std::size_t before = sum.topKernels.size();
    std::vector<KernelTotal> others;
    for (const KernelTotal& kernel : more.topKernels)
        if (const auto known = names.find(kernel.name); known != names.end() && known->second < before) {
            sum.topKernels[known->second].count += kernel.count;
            sum.topKernels[known->second].time += kernel.time;
        } else {
            others.push_back(kernel);
        }
    sum.topKernels.insert(sum.topKernels.end(), others.begin(), others.end());
}

} // namespace app::terminal
