#pragma once

#include "profiler/analysis/device/activity_scan.h"

#include <map>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// A time in which a device was idle, and its cause as in IdleCause (device_use.h).
struct IdleStretch {
    TimeRange range;
    std::string_view cause;
};
/// For each device with work, from its first to its last operation: disjoint, by start. Their sums equal idleCauses()
/// for the whole trace.
std::map<DeviceId, std::vector<IdleStretch>> idleStretches(const ActivityScan& scan);

} // namespace profiler::analysis
