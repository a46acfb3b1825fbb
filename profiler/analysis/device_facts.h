#pragma once

#include "profiler/analysis/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/kernel_class.h"
#include "profiler/analysis/steps.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What the devices did in the part of a trace that rules judge: its steady steps, else all its steps; without steps
/// from the first to the last work of a device.
struct DeviceFacts {
    std::vector<TimeRange> window; ///< sorted, disjoint
    std::vector<TimeRange> steps;  ///< the steps in the window, one by one; empty: the trace has none
    int devices = 0;               ///< workingDevices() of the whole trace
    int ranks = 1;                 ///< markingProcesses(): each gave the devices work in each step
    Intervals kernels, any;    ///< times in which any device ran a kernel; a kernel, copy or memset. In the whole trace
    KernelWork work;           ///< kernels that begin in the window
    std::vector<Slice> copies; ///< that begin in the window, by begin
    std::vector<IdleCause> idle; ///< in the window, between the first and the last work of any device

    [[nodiscard]] bool hasWork() const { return !any.empty(); }
    [[nodiscard]] Nanoseconds windowTime() const { return total(window); }
    /// Share of the window in which no device ran anything, [0, 1]; of its part between their first and last work.
    [[nodiscard]] double idleShare() const;
    /// Share of the same time that a cause explains of the devices' idleness; a mean over devices.
    [[nodiscard]] double idleShare(std::string_view cause) const;
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
