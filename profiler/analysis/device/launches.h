#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

/// How the host launches the work of a device: the calls, the launch queue over time, and the gaps of a device that are
/// not the host's fault because its next work was already queued.
namespace profiler::analysis {

/// A runtime or driver call that can launch work.
struct LaunchCall {
    std::uint64_t correlation = 0;
    TimeRange range;
    SliceId slice;
};

/// The calls of a trace with a correlation id, to find the one that launched a piece of device work.
class LaunchCalls {
public:
    /// @param stop  checked periodically; after a stop, only some calls are known
    explicit LaunchCalls(const Trace& trace, const std::stop_token& stop = {});

    /// The call with this correlation id. If there are several (a runtime call and the driver call inside it), the one
    /// that started first; null if none is recorded. O(log n).
    [[nodiscard]] const LaunchCall* find(std::uint64_t correlation) const;
    [[nodiscard]] bool empty() const { return m_calls.empty(); }

private:
    std::vector<LaunchCall> m_calls; ///< by correlation id, then start
};

/// A kernel, copy or memset and the call that launched it.
struct LaunchedWork {
    TimeRange range;
    SliceId slice;
    ActivityKind kind = ActivityKind::Kernel;
    std::optional<LaunchCall> call; ///< empty: not recorded
};

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
/// The same for all gaps of all devices.
std::map<DeviceId, QueuedGaps> queuedGaps(const Trace& trace, const ActivityScan& scan);

/// How the host launched the work of a device, in the steady-state steps, or in the whole trace if there are none; from
/// the device's first launch to the end of its last work.
struct DeviceLaunches {
    DeviceId id;
    std::int64_t work = 0;      ///< kernels, copies and memsets
    std::int64_t linked = 0;    ///< number of those with a recorded call
    std::int64_t launches = 0;  ///< calls that launched work; the launch of a CUDA graph counts once
    double launchesPerStep = 0; ///< without steps: the total count
    double callUs = 0;          ///< median duration of calls that launch kernels
    double callUsP99 = 0;       ///< the 99th percentile
    double delayUs = 0;         ///< launch-to-start latency: median from the start of a call to its first work
    double delayUsP95 = 0;      ///< the 95th percentile
    std::int64_t backwards = 0; ///< work that starts before its call by the trace's clocks; not in the latency
    Nanoseconds time{};         ///< duration of the observed time
    double meanDepth = 0;       ///< time average of the queue depth: work that was launched but had not started
    std::int64_t maxDepth = 0;
    double queueAtStart = 0;    ///< mean number of other queued operations when work started
    double emptyShare = 0;      ///< share of the time with nothing queued or running: the device waits for the host
    double foundEmptyShare = 0; ///< share of launches that found nothing queued or running (launch-bound)

    /// Share of its work with a recorded call, [0, 1].
    [[nodiscard]] double linkedShare() const
    {
        return work > 0 ? static_cast<double>(linked) / static_cast<double>(work) : 0;
    }
};

/// Statistics of the launch queue. As in the queue length of Holistic Trace Analysis, a launch increments the depth
/// when its call starts and decrements it when its work starts. Work without a known call counts as launched when it
/// starts: this underestimates the queue depth, but never overestimates the time without work.
struct LaunchStatistics {
    std::vector<DeviceLaunches> devices; ///< by id; only devices with recorded calls
    bool anyWork = false;                ///< any device has work
    std::string cannotTell;              ///< the reason why there are no devices; empty if there are
};
/// O(n log n) in device work and calls.
/// @param stop  checked periodically; after a stop, the result is meaningless
LaunchStatistics launchStatistics(const Trace& trace, const LaunchCalls& calls, const AnalysedPart& part,
                                  const std::stop_token& stop = {});

} // namespace profiler::analysis
