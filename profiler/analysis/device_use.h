#pragma once

#include "profiler/analysis/activity_scan.h"
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

/// Kernels of NCCL and RCCL.
bool isCommunication(std::string_view kernelName);
/// Runtime and driver calls that wait for the device: …Synchronize.
bool isSyncCall(std::string_view callName);
/// Runtime calls that copy and return only when the copy is done: cudaMemcpy and its like without "Async".
bool isBlockingCopy(std::string_view callName);
/// Runtime and driver calls that allocate, map, page-lock or release memory.
bool isAllocation(std::string_view callName);
/// Driver calls that load a kernel's code before its first launch, and what the profiler calls the same (overhead).
bool isCodeLoading(std::string_view name);
/// What the host does to communicate: PyTorch's operators and ranges of a process group, and NCCL's own ranges.
bool isCommunicationCall(std::string_view name);

/// NVTX ranges that PyTorch opens around its operators (emit_nvtx): "aten::mm", "aten::mm, seq = 12", "MmBackward0".
bool isOperatorRange(std::string_view name);

/// Time in which any device ran a kernel, a copy or a memset.
Intervals deviceBusy(const ActivityScan& scan);

struct DeviceUse {
    DeviceId id;
    std::string name;
    Nanoseconds busyKernel{}; ///< union of its kernels
    Nanoseconds busyAny{};    ///< union of kernels, copies and memsets
    Nanoseconds span{};       ///< first to last of its operations
    int streams = 0;
};
/// Devices that did something, by id.
std::vector<DeviceUse> deviceUse(const Trace& trace, const ActivityScan& scan);

/// Time in which a device did nothing, by what the host's threads (loader workers excepted) did meanwhile. The first
/// that fits counts: end_of_run (after the device's last operation, while others work), data_loader ("data wait"
/// phases), communication (calls that communicate), sync, copy (blocking ones), warm_up (other work that a process does
/// once), allocation, lazy_loading (of kernels' code), launch (any other operator, phase or runtime call), other. Where
/// the launch queue is judged, "queued" comes before all that the host does: the device had work to do.
struct IdleCause {
    std::string_view cause;
    Nanoseconds time{};                                     ///< over all devices
    DeviceId device;                                        ///< with most of it
    Intervals where;                                        ///< on that device
    std::vector<std::pair<DeviceId, Intervals>> everywhere; ///< on each device that has any, by id
};
/// Over all devices, largest first; only causes that occur. Empty without devices.
/// @param within  where to look at workingDevices(), sorted and disjoint; empty: each device, first to last operation
/// @param queued  gaps of a device in which its next work was already launched, see queuedGaps(); null: not judged
/// @param warmUp  when the host does work that it does once (steps/one_time_work.h), loading of code aside
std::vector<IdleCause> idleCauses(const ActivityScan& scan, std::span<const TimeRange> within = {},
                                  const std::map<DeviceId, QueuedGaps>* queued = nullptr, Intervals warmUp = {});

struct SyncUse {
    std::int64_t calls = 0;
    Nanoseconds time{};
    std::int64_t blockingCopies = 0;
    Nanoseconds blockingCopyTime{};
};
/// Calls by their runtime records; where these are not recorded, by the waits (kind Sync) themselves.
SyncUse syncUse(const ActivityScan& scan);

} // namespace profiler::analysis
