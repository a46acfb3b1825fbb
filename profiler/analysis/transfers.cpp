#include "profiler/analysis/transfers.h"

#include "profiler/analysis/activity_scan.h"

#include <algorithm>

namespace profiler::analysis {

std::vector<Transfer> transfers(const Trace& trace)
{
    return scanActivity(trace).transfers;
}

std::vector<KernelTotal> topKernels(const Trace& trace, std::size_t most)
{
    std::vector<KernelTotal> kernels = scanActivity(trace).kernels;
    kernels.resize(std::min(kernels.size(), most));
    return kernels;
}

Communication communication(const Trace& trace)
{
    return communication(scanActivity(trace));
}

Communication communication(const ActivityScan& scan)
{
    Communication result;
    result.kernels = scan.communicationKernels;
    for (const auto& [id, device] : scan.devices) {
        result.time += total(device.communication);
        result.exposed += total(subtract(device.communication, device.kernels));
    }
    return result;
}

} // namespace profiler::analysis
