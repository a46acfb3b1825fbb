#pragma once

#include "profiler/analysis/activity_scan.h"

#include <map>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// A stretch in which a device did nothing, and why, as IdleCause (device_use.h) has it.
struct IdleStretch {
    TimeRange range;
    std::string_view cause;
};
/// Of each device that did something, from its first to its last operation: disjoint, by begin. They sum to what
/// idleCauses() says of the whole trace.
std::map<DeviceId, std::vector<IdleStretch>> idleStretches(const ActivityScan& scan);

} // namespace profiler::analysis
