#pragma once

#include "profiler/analysis/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/kernel_class.h"
#include "profiler/analysis/steps.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What the devices did in the part of a trace that rules judge: its steady steps, else all its steps; without steps
/// from the first to the last work of a device, the warm-up (steps/one_time_work.h) left out.
struct DeviceFacts {
    std::vector<TimeRange> window; ///< sorted, disjoint
    std::vector<TimeRange> steps;  ///< the steps in the window, one by one; empty: the trace has none
    int devices = 0;               ///< workingDevices() of the whole trace
    int ranks = 1;                 ///< markingProcesses(): each gave the devices work in each step
    Intervals kernels, any;    ///< times in which any device ran a kernel; a kernel, copy or memset. In the whole trace
    KernelWork work;           ///< kernels that begin in the window
    std::vector<Slice> copies; ///< that begin in the window, by begin
    /// In the window, between the first and the last work of any device: every gap of every working device is divided
    /// among these causes exactly once. Rules read their share here and compute none of their own.
    std::vector<IdleCause> idle;
    /// The rest of the same time, exclusive, summed over the working devices: kernels other than communication, and
    /// memsets; of copies what neither hides; of communication what none of these hides.
    Nanoseconds computing{}, copying{}, communicating{};
    std::int64_t gaps = 0; ///< of working devices, whose next work's launch is recorded; 0: the queue is not known
    std::int64_t queuedGaps = 0; ///< of these, with the next work in the launch queue already

    [[nodiscard]] bool hasWork() const { return !any.empty(); }
    [[nodiscard]] Nanoseconds windowTime() const { return total(window); }
    /// Share of the window in which no device ran anything, [0, 1]; of its part between their first and last work.
    [[nodiscard]] double idleShare() const;
    /// Share of the same time that a cause explains of the devices' idleness; a mean over devices.
    [[nodiscard]] double idleShare(std::string_view cause) const;
    /// The cause, or null where nothing idles for it.
    [[nodiscard]] const IdleCause* idleCause(std::string_view cause) const;
    /// For each of the steps, µs that devices idle in it for any of these causes; a mean over devices.
    [[nodiscard]] std::vector<double> idleInEachStep(std::initializer_list<std::string_view> causes) const;
    /// µs in a step of a sum over the working devices, on the mean over them.
    [[nodiscard]] double deviceUsPerStep(Nanoseconds sum) const { return usPerStep(sum) / std::max(devices, 1); }
    /// µs in a step of a sum over devices: where several ranks gave them work, in a step of one of these on the mean.
    [[nodiscard]] double meanUsPerStep(Nanoseconds sum) const { return usPerStep(sum) / ranks; }
    /// µs in a step; in the whole window where there are no steps.
    [[nodiscard]] double usPerStep(Nanoseconds time) const
    {
        return toUs(time) / static_cast<double>(steps.empty() ? 1 : steps.size());
    }
};

DeviceFacts deviceFacts(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps);

} // namespace profiler::analysis
