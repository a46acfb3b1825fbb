#pragma once

#include "profiler/analysis/activity_scan.h"

#include <set>

namespace profiler::analysis {

/// Devices that were busy for at least a twentieth of the busiest one's time: one that only held a context or cleared
/// some memory does not wait for anything.
std::set<DeviceId> workingDevices(const ActivityScan& scan);

} // namespace profiler::analysis
