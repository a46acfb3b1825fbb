#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/intervals.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>

/// Distinguishes device gaps caused by the host from gaps in which the device already had work.
namespace profiler::analysis {

/// The gaps of one device whose next work was already in the launch queue.
struct QueuedGaps {
    Intervals queued;          ///< gaps that started after the launch call of their next work had returned
    std::int64_t count = 0;    ///< number of gaps whose next work has a recorded launch
    std::int64_t ofQueued = 0; ///< number of those gaps whose next work was in the queue
};

/// A device that is idle although its next work is queued does not wait for the host. It waits for another stream, or
/// the gap is the usual microsecond between two kernels. Work counts as queued from the end of the call that launched
/// it. Gaps whose next work has no recorded launch are ignored.
/// @param within   only gaps that overlap these times count; sorted, disjoint
/// @param devices  only gaps of these devices count
/// O(slices of their streams + calls).
std::map<DeviceId, QueuedGaps> queuedGaps(const Trace& trace, const ActivityScan& scan,
                                          std::span<const TimeRange> within, const std::set<DeviceId>& devices);

} // namespace profiler::analysis
