#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/queued_gaps.h"
#include "profiler/analysis/intervals.h"
#include "profiler/model/trace.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
/// @param warmUp  the times of the host's one-time work (steps/one_time_work.h), except code loading
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

} // namespace profiler::analysis
