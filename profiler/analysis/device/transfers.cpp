#include "profiler/analysis/device/transfers.h"

#include "profiler/analysis/device/activity_scan.h"

namespace profiler::analysis {

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
