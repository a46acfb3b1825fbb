#pragma once

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// The activity of the devices in the part of a trace that rules use: its steady-state steps, or all steps if none is
/// steady. Without steps: from the first to the last device work, without the warm-up (steps/one_time_work.h).
struct DeviceFacts {
    std::vector<TimeRange> window; ///< sorted, disjoint
    std::vector<TimeRange> steps;  ///< each step in the window; empty: the trace has none
    int devices = 0;               ///< workingDevices() of the whole trace
    int ranks = 1;                 ///< markingProcesses(): processes that gave the devices work in each step
    Intervals kernels, any;        ///< times with a kernel; with a kernel, copy or memset. On any device, in the whole
                                   ///< trace
    KernelWork work;               ///< kernels that start in the window
    std::vector<Slice> copies;     ///< copies that start in the window, by start
    /// Idle time in the window between the first and the last work of any device: every gap of every working device is
    /// attributed to exactly one of these causes. Rules use these shares instead of computing their own.
    std::vector<IdleCause> idle;
    /// The rest of the same time, summed over the working devices. The parts are exclusive: compute kernels and
    /// memsets; copies not hidden by these; communication not hidden by any of these.
    Nanoseconds computing{}, copying{}, communicating{};
    std::int64_t gaps = 0; ///< gaps of working devices whose next work has a recorded launch; 0: the queue is unknown
    std::int64_t queuedGaps = 0; ///< number of those gaps whose next work was already in the launch queue

    [[nodiscard]] bool hasWork() const { return !any.empty(); }
    [[nodiscard]] Nanoseconds windowTime() const { return total(window); }
    /// Share of the window in which no device ran anything, [0, 1]. Relative to the part between the first and last
    /// work.
    [[nodiscard]] double idleShare() const;
    /// Share of the same time in which devices idle for a cause; the mean over devices.
    [[nodiscard]] double idleShare(std::string_view cause) const;
    /// The cause, or null if it causes no idle time.
    [[nodiscard]] const IdleCause* idleCause(std::string_view cause) const;
    /// For each step, the time that devices idle for any of these causes, in µs; the mean over devices.
    [[nodiscard]] std::vector<double> idleInEachStep(std::initializer_list<std::string_view> causes) const;
    /// µs per step and device, from a sum over the working devices.
    [[nodiscard]] double deviceUsPerStep(Nanoseconds sum) const { return usPerStep(sum) / std::max(devices, 1); }
    /// µs per step, from a sum over devices. If several ranks gave them work: the mean per rank.
    [[nodiscard]] double meanUsPerStep(Nanoseconds sum) const { return usPerStep(sum) / ranks; }
    /// µs per step; without steps: µs in the whole window.
    [[nodiscard]] double usPerStep(Nanoseconds time) const
    {
        return toUs(time) / static_cast<double>(steps.empty() ? 1 : steps.size());
    }
};

DeviceFacts deviceFacts(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps);

} // namespace profiler::analysis
