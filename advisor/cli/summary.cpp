#include "advisor/cli/summary.h"

#include "profiler/analysis/intervals.h"

namespace advisor::cli {

namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr double kShortKernelUs = 10;
constexpr std::size_t kTopKernels = 10;

void count(const Trace& trace, const Slice& slice, Summary& summary)
{
    Summary::Counts& counts = summary.counts;
    switch (slice.kind) {
    case ActivityKind::Kernel:
        ++counts.kernel;
        summary.kernelUs += toUs(slice.duration);
        summary.shortKernels += toUs(slice.duration) < kShortKernelUs;
        break;
    case ActivityKind::GpuMemcpy:
        ++counts.memcpy;
        break;
    case ActivityKind::GpuMemset:
        ++counts.memset;
        break;
    case ActivityKind::CudaRuntime:
    case ActivityKind::CudaDriver:
        ++counts.runtime;
        break;
    case ActivityKind::CpuOp:
        ++counts.cpuOp;
        break;
    case ActivityKind::Nvtx:
        ++counts.nvtx;
        break;
    case ActivityKind::Phase:
        if (trace.name(slice) == phase::kDataWait) {
            ++summary.dataWaits;
            summary.dataWaitUs += toUs(slice.duration);
        }
        break;
    default:
        break;
    }
}

} // namespace

Summary summaryOf(const Trace& trace)
{
    Summary summary;
    summary.counts.events = static_cast<std::int64_t>(trace.sliceCount());
    for (const Track& track : trace.tracks())
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            count(trace, slice, summary);
            return true;
        });
    summary.transfers = transfers(trace);
    summary.devices = deviceUse(trace);
    summary.steps = findSteps(trace);
    summary.statistics = stepStatistics(summary.steps);
    summary.breakdown = breakdown(trace, summary.steps);
    summary.input = inputWait(trace, summary.steps);
    summary.communication = communication(trace);
    summary.sync = syncUse(trace);
    summary.idle = idleCauses(trace);
    summary.topKernels = topKernels(trace, kTopKernels);
    return summary;
}

} // namespace advisor::cli
