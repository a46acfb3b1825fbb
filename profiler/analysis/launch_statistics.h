#pragma once

#include "profiler/analysis/steady_state_steps.h"
#include "profiler/analysis/launched_work.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// How the host gave a device its work: in the judged steps, else in the whole trace; between the device's first launch
/// and the end of its last work.
struct DeviceLaunches {
    DeviceId id;
    std::int64_t work = 0;      ///< kernels, copies and memsets
    std::int64_t linked = 0;    ///< of these, whose call the trace tells
    std::int64_t launches = 0;  ///< calls that gave it work; a CUDA graph's is one for all of its work
    double launchesPerStep = 0; ///< in the whole part where there are no steps
    double callUs = 0;          ///< median duration of the calls that launch kernels
    double callUsP99 = 0;       ///< the same, 99 of 100 are shorter
    double delayUs = 0;         ///< median from a call's begin to the begin of its first work
    double delayUsP95 = 0;      ///< the same, 95 of 100 are shorter
    std::int64_t backwards = 0; ///< work that begins before its call, by the clocks of the trace; in no delay
    Nanoseconds time{};         ///< that was looked at
    double meanDepth = 0;       ///< of its queue: launched and not yet begun, over that time
    std::int64_t maxDepth = 0;
    double queueAtStart = 0;    ///< mean number of others that were launched and had not started when work started
    double emptyShare = 0;      ///< of that time nothing was launched that had not ended: it waits for the host
    double foundEmptyShare = 0; ///< of the launches: nothing was running or queued when the call began (launch bound)

    /// Of its work, whose call the trace tells, [0, 1].
    [[nodiscard]] double linkedShare() const
    {
        return work > 0 ? static_cast<double>(linked) / static_cast<double>(work) : 0;
    }
};

/// Source of the words: Holistic Trace Analysis' queue length (a launch counts up when its call begins, and down when
/// its work does). Work without a known call counts as launched when it begins: it makes the queue shorter than it was,
/// and never the time without work longer.
struct LaunchStatistics {
    std::vector<DeviceLaunches> devices; ///< by id; those whose work's calls are recorded
    bool anyWork = false;                ///< any device did anything
    std::string cannotTell;              ///< why there are none; empty: there are
};
/// O(n log n) in device work and calls.
/// @param stop  asked now and then; what is returned then means nothing
LaunchStatistics launchStatistics(const Trace& trace, const LaunchCalls& calls, const JudgedPart& part,
                                  const std::stop_token& stop = {});

} // namespace profiler::analysis
