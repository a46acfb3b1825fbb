#pragma once

#include "profiler/analysis/device/activity_scan.h"

#include <set>

namespace profiler::analysis {

/// Devices whose busy time is at least 5 % of the busiest one's. A device that only holds a context or clears some
/// memory does not wait for anything.
std::set<DeviceId> workingDevices(const ActivityScan& scan);

} // namespace profiler::analysis
