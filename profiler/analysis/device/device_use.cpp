#include "profiler/analysis/device/device_use.h"

#include "profiler/analysis/device/idle_stretches.h"
#include "profiler/analysis/device/working_devices.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace profiler::analysis {

namespace {

enum Cause {
    EndOfRun,
    Queued,
    DataLoader,
    Communication,
    Sync,
    Copy,
    WarmUp,
    Allocation,
    LazyLoading,
    Launch,
    kCauses
};
constexpr std::array<std::string_view, kCauses + 1> kCauseNames = {
    "end_of_run", "queued",     "data_loader",  "communication", "sync", "copy",
    "warm_up",    "allocation", "lazy_loading", "launch",        "other"};

std::array<Intervals, kCauses> hostCauses(const HostActivity& host)
{
    std::array<Intervals, kCauses> causes;
    causes[DataLoader] = host.dataWaits;
    causes[Communication] = host.communication;
    causes[Sync] = host.syncs;
    causes[Copy] = host.blockingCopies;
    causes[Allocation] = host.allocations;
    causes[LazyLoading] = host.codeLoading;
    causes[Launch] = unite(host.calls, host.work);
    return causes;
}

/// Splits the idle time of a device by cause; the last part has no known cause.
std::array<Intervals, kCauses + 1> split(Intervals idle, const std::array<Intervals, kCauses>& activity)
{
    std::array<Intervals, kCauses + 1> parts;
    for (std::size_t i = 0; i < kCauses; ++i) {
        parts[i] = intersect(idle, activity[i]);
        idle = subtract(idle, activity[i]);
    }
    parts[kCauses] = std::move(idle);
    return parts;
}

Intervals idleBetween(const Intervals& busy)
{
    const std::vector<TimeRange> span{{busy.front().begin, busy.back().end}};
    return subtract(span, busy);
}

} // namespace

bool isCommunication(std::string_view kernelName)
{
    const auto contains = [&](std::string_view mark) { return kernelName.find(mark) != kernelName.npos; };
    constexpr std::array<std::string_view, 11> kLibraries = {
        "nccl", "NCCL", "rccl", "RCCL", "msccl", "MSCCL", "nvshmem", "NVSHMEM", "deep_ep", "symm_mem", "userbuffers_"};
    // Collectives without a library prefix: those of PyTorch's symmetric memory, vLLM, SGLang, FlashInfer and
    // TensorRT-LLM. Each of their names contains one of these parts, so few names have to be compared with the whole
    // list.
    constexpr std::array<std::string_view, 5> kParts = {"educe", "ather", "oall", "o_all", "oAll"};
    constexpr std::array<std::string_view, 15> kCollectives = {
        "cross_device_reduce", "all_reduce", "allreduce", "AllReduce",     "quickreduce",
        "all_gather",          "allgather",  "AllGather", "multimem_all_", "reduce_scatter",
        "ReduceScatter",       "all_to_all", "alltoall",  "AllToAll",      "Alltoall"};
    if (std::ranges::any_of(kLibraries, contains) ||
        (std::ranges::any_of(kParts, contains) && std::ranges::any_of(kCollectives, contains)))
        // Inductor includes the names of neighbouring operators in kernel names; DeepEP's layout kernels count tokens
        // on one device.
        return !kernelName.starts_with("triton_") && !contains("deep_ep::layout");
    return false;
}

bool isSyncCall(std::string_view callName)
{
    return callName.find("Synchronize") != callName.npos;
}

bool isBlockingCopy(std::string_view callName)
{
    return callName.find("Memcpy") != callName.npos && callName.find("Async") == callName.npos;
}

bool isAllocation(std::string_view callName)
{
    constexpr std::array<std::string_view, 12> kMarks = {
        "Malloc",    "MemAlloc",   "Free",   "HostAlloc", "HostRegister", "HostUnregister",
        "MemCreate", "MemRelease", "MemMap", "MemUnmap",  "MemSetAccess", "MemAddress"};
    return std::any_of(kMarks.begin(), kMarks.end(),
                       [&](std::string_view mark) { return callName.find(mark) != callName.npos; });
}

bool isCodeLoading(std::string_view name)
{
    constexpr std::array<std::string_view, 5> kCalls = {"cuModule", "cuLibrary", "cuKernelGetFunction", "cudaLibrary",
                                                        "hipModuleLoad"};
    constexpr std::array<std::string_view, 4> kOverheads = {"unction loading", "unction Loading", "odule loading",
                                                            "odule Loading"};
    return std::any_of(kCalls.begin(), kCalls.end(), [&](std::string_view call) { return name.starts_with(call); }) ||
           std::any_of(kOverheads.begin(), kOverheads.end(),
                       [&](std::string_view overhead) { return name.find(overhead) != name.npos; });
}

bool isCommunicationCall(std::string_view name)
{
    constexpr std::array<std::string_view, 5> kMarks = {"c10d::", "nccl:", "gloo:", "mpi:", "record_param_comms"};
    const bool ncclRange = name.starts_with("nccl") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
    return ncclRange ||
           std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) { return name.starts_with(mark); });
}

namespace {

// "MmBackward0", "Log2Backward0". "Backward" and "Run Backward 12" are names chosen by a program.
bool isBackwardNode(std::string_view name)
{
    constexpr std::string_view kEnd = "Backward";
    const auto end = name.find_last_not_of("0123456789");
    const std::string_view word = name.substr(0, end == name.npos ? 0 : end + 1);
    return word.size() > kEnd.size() && word.ends_with(kEnd) && word.find(' ') == word.npos &&
           std::isalnum(static_cast<unsigned char>(word[word.size() - kEnd.size() - 1]));
}

} // namespace

bool isOperatorRange(std::string_view name)
{
    constexpr std::array<std::string_view, 4> kBegins = {"aten::", "c10d::", "autograd::engine::", "torch::autograd::"};
    constexpr std::array<std::string_view, 2> kMarks = {", seq = ", ", op_id = "};
    return isBackwardNode(name) ||
           std::any_of(kBegins.begin(), kBegins.end(), [&](auto begin) { return name.starts_with(begin); }) ||
           std::any_of(kMarks.begin(), kMarks.end(), [&](auto mark) { return name.find(mark) != name.npos; });
}

std::set<DeviceId> workingDevices(const ActivityScan& scan)
{
    constexpr double kPart = 0.05;
    std::map<DeviceId, double> busy;
    double most = 0;
    for (const auto& [id, device] : scan.devices) {
        busy[id] = toUs(total(device.any()));
        most = std::max(most, busy[id]);
    }
    std::set<DeviceId> working;
    for (const auto& [id, us] : busy)
        if (us > 0 && us >= kPart * most)
            working.insert(id);
    return working;
}

Intervals deviceBusy(const ActivityScan& scan)
{
    Intervals busy;
    for (const auto& [id, device] : scan.devices)
        busy = unite(std::move(busy), device.any());
    return busy;
}

std::vector<DeviceUse> deviceUse(const Trace& trace, const ActivityScan& scan)
{
    std::vector<DeviceUse> devices;
    for (const auto& [id, device] : scan.devices) {
        const Intervals any = device.any();
        const auto known = std::find_if(trace.devices().begin(), trace.devices().end(),
                                        [&, wanted = id](const Device& row) { return row.id == wanted; });
        devices.push_back({.id = id,
                           .name = known == trace.devices().end() ? std::string() : known->name,
                           .busyKernel = total(device.allKernels()),
                           .busyAny = total(any),
                           .span = any.empty() ? Nanoseconds{0} : any.back().end - any.front().begin,
                           .streams = device.streams});
    }
    return devices;
}

std::vector<IdleCause> idleCauses(const ActivityScan& scan, std::span<const TimeRange> within,
                                  const std::map<DeviceId, QueuedGaps>* queued, Intervals warmUp)
{
    std::array<IdleCause, kCauses + 1> causes;
    std::array<Nanoseconds, kCauses + 1> most{};
    std::array<Intervals, kCauses> activity = hostCauses(scan.host);
    activity[WarmUp] = std::move(warmUp);
    const std::set<DeviceId> working = within.empty() ? std::set<DeviceId>() : workingDevices(scan);
    for (const auto& [id, device] : scan.devices) {
        const Intervals busy = device.any();
        if (busy.empty() || (!within.empty() && !working.contains(id)))
            continue;
        activity[EndOfRun] = {{busy.back().end, TraceTime::max()}};
        const auto queue = queued ? queued->find(id) : std::map<DeviceId, QueuedGaps>::const_iterator();
        activity[Queued] = queued && queue != queued->end() ? queue->second.queued : Intervals();
        auto parts = split(within.empty() ? idleBetween(busy) : subtract(within, busy), activity);
        for (std::size_t i = 0; i <= kCauses; ++i) {
            const Nanoseconds time = total(parts[i]);
            causes[i].time += time;
            if (time.count() == 0)
                continue;
            if (time > most[i]) {
                most[i] = time;
                causes[i].device = id;
                causes[i].where = parts[i];
            }
            causes[i].everywhere.emplace_back(id, std::move(parts[i]));
        }
    }
    std::vector<IdleCause> found;
    for (std::size_t i = 0; i <= kCauses; ++i)
        if (causes[i].time.count() > 0) {
            causes[i].cause = kCauseNames[i];
            found.push_back(std::move(causes[i]));
        }
    std::stable_sort(found.begin(), found.end(),
                     [](const IdleCause& a, const IdleCause& b) { return a.time > b.time; });
    return found;
}

std::map<DeviceId, std::vector<IdleStretch>> idleStretches(const ActivityScan& scan)
{
    std::map<DeviceId, std::vector<IdleStretch>> found;
    const std::array<Intervals, kCauses> activity = hostCauses(scan.host);
    for (const auto& [id, device] : scan.devices) {
        const Intervals busy = device.any();
        if (busy.empty())
            continue;
        std::vector<IdleStretch>& stretches = found[id];
        const auto parts = split(idleBetween(busy), activity);
        for (std::size_t i = 0; i <= kCauses; ++i)
            for (const TimeRange& range : parts[i])
                stretches.push_back({range, kCauseNames[i]});
        std::sort(stretches.begin(), stretches.end(),
                  [](const IdleStretch& a, const IdleStretch& b) { return a.range.begin < b.range.begin; });
    }
    return found;
}

SyncUse syncUse(const ActivityScan& scan)
{
    const KindTotal& calls = scan.syncCalls.count > 0 ? scan.syncCalls : scan.waits;
    return {.calls = calls.count,
            .time = calls.time,
            .blockingCopies = scan.blockingCopyCalls.count,
            .blockingCopyTime = scan.blockingCopyCalls.time};
}

} // namespace profiler::analysis
