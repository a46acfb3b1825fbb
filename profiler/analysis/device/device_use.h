#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How busy devices are, and why they are idle: names of calls and kernels by purpose, causes of idle time, waits of
/// the host, and (DeviceFacts) all of these for the part of a trace that rules use.
namespace profiler::analysis {

/// True for kernels of NCCL, RCCL and other communication libraries.
bool isCommunication(std::string_view kernelName);
/// True for runtime and driver calls that wait for the device: …Synchronize.
bool isSyncCall(std::string_view callName);
/// True for runtime calls that return only after the copy is complete: cudaMemcpy and similar calls without "Async".
bool isBlockingCopy(std::string_view callName);
/// True for runtime and driver calls that allocate, map, page-lock or free memory.
bool isAllocation(std::string_view callName);
/// True for driver calls that load a kernel's code before its first launch, and for the profiler's overhead of that
/// kind.
bool isCodeLoading(std::string_view name);
/// True for communication on the host: PyTorch's operators and ranges of a process group, and NCCL's own ranges.
bool isCommunicationCall(std::string_view name);

/// True for NVTX ranges that PyTorch opens around operators (emit_nvtx): "aten::mm", "aten::mm, seq = 12",
/// "MmBackward0".
bool isOperatorRange(std::string_view name);

/// The times in which any device ran a kernel, a copy or a memset.
Intervals deviceBusy(const ActivityScan& scan);

struct DeviceUse {
    DeviceId id;
    std::string name;
    Nanoseconds busyKernel{}; ///< union of its kernels
    Nanoseconds busyAny{};    ///< union of kernels, copies and memsets
    Nanoseconds span{};       ///< from its first to its last operation
    int streams = 0;
};
/// Devices with work, by id.
std::vector<DeviceUse> deviceUse(const Trace& trace, const ActivityScan& scan);

/// Idle time of devices by cause, according to what the host threads (without loader workers) do at the time. The first
/// cause that applies counts: end_of_run (after the device's last operation, while others work), data_loader ("data
/// wait" phases), communication (communication calls), sync, copy (blocking copies), warm_up (other one-time work of a
/// process), allocation, lazy_loading (of kernel code), launch (any other operator, phase or runtime call), other. If
/// the launch queue is known, "queued" precedes all host causes, because the device had work.
struct IdleCause {
    std::string_view cause;
    Nanoseconds time{};                                     ///< summed over all devices
    DeviceId device;                                        ///< the device with the largest part
    Intervals where;                                        ///< the times on that device
    std::vector<std::pair<DeviceId, Intervals>> everywhere; ///< the times on each affected device, by id
};
/// The causes of idle time over all devices, largest first; only causes that occur. Empty without devices.
/// @param within  the times in which workingDevices() are examined, sorted and disjoint; empty: each device from its
///                first to its last operation
/// @param queued  gaps of a device whose next work was already launched, see queuedGaps(); null: unknown
/// @param warmUp  the times of the host's one-time work (steps/warm_up.h), except code loading
std::vector<IdleCause> idleCauses(const ActivityScan& scan, std::span<const TimeRange> within = {},
                                  const std::map<DeviceId, QueuedGaps>* queued = nullptr, Intervals warmUp = {});

struct SyncUse {
    std::int64_t calls = 0;
    Nanoseconds time{};
    std::int64_t blockingCopies = 0;
    Nanoseconds blockingCopyTime{};
};
/// Synchronization by runtime calls; if these are not recorded, by the waits (kind Sync) themselves.
SyncUse syncUse(const ActivityScan& scan);

/// A time in which a device was idle, and its cause as in IdleCause (device_use.h).
struct IdleStretch {
    TimeRange range;
    std::string_view cause;
};
/// For each device with work, from its first to its last operation: disjoint, by start. Their sums equal idleCauses()
/// for the whole trace.
/// @param queued  queuedGaps() of the whole trace
std::map<DeviceId, std::vector<IdleStretch>> idleStretches(const ActivityScan& scan,
                                                           const std::map<DeviceId, QueuedGaps>& queued);

/// Devices whose busy time is at least 5 % of the busiest one's. A device that only holds a context or clears some
/// memory does not wait for anything.
std::set<DeviceId> workingDevices(const ActivityScan& scan);

/// The activity of the devices in the part of a trace that rules use: its steady-state steps, or all steps if none is
/// steady. Without steps: from the first to the last device work, without the warm-up (steps/warm_up.h).
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
