#include "profiler/analysis/device/device_use.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/analysis/steps/warm_up.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
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

// "MmBackward0", "Log2Backward0". "Backward" and "Run Backward 12" are names chosen by a program.
bool isBackwardNode(std::string_view name)
{
    constexpr std::string_view kEnd = "Backward";
    const auto end = name.find_last_not_of("0123456789");
    const std::string_view word = name.substr(0, end == name.npos ? 0 : end + 1);
    return word.size() > kEnd.size() && word.ends_with(kEnd) && word.find(' ') == word.npos &&
           std::isalnum(static_cast<unsigned char>(word[word.size() - kEnd.size() - 1]));
}

/// The start of the steady part of a trace without steps: the end of the host's one-time work, if that takes at least
/// kLeastWarmUpExcess of the time until then.
TraceTime steadyBegin(const Trace& trace, TimeRange span)
{
    const Intervals work = oneTimeIntervals(oneTimeWork(trace, span));
    if (work.empty())
        return span.begin;
    const TraceTime end = std::min(work.back().end, span.end);
    const bool isMuch = toUs(total(work)) >= kLeastWarmUpExcess * toUs(end - span.begin);
    return isMuch && end < span.end ? end : span.begin;
}

/// Without steps: from the first to the last device work, because the time around it is the start and end of the
/// recording; the warm-up is excluded. Source: the gpu_gaps report of Nsight Systems also excludes start and end.
std::vector<TimeRange> analysedWindow(const Trace& trace, const DeviceFacts& facts)
{
    if (!facts.steps.empty())
        return unite(facts.steps);
    if (facts.any.empty())
        return {trace.range()};
    const TimeRange span{facts.any.front().begin, facts.any.back().end};
    return {TimeRange{steadyBegin(trace, span), span.end}};
}

/// The window between the first and the last work of any device. Before its first work, a device does not wait for a
/// step, and on the host the marks of steps may be long before the work that they launch.
Intervals betweenWork(const DeviceFacts& facts)
{
    if (facts.any.empty())
        return {};
    const std::vector<TimeRange> hull{{facts.any.front().begin, facts.any.back().end}};
    return intersect(facts.window, hull);
}

/// Below this share of the window, no rule reports idle time, so launches need not be examined. The smallest threshold
/// of such a rule is 2 % (sync.every_n_steps).
constexpr double kLeastIdle = 0.01;

/// The times in which the host autotunes, compiles, launches for the first time or fills its allocator's cache, in the
/// recorded steps. Without steps: from the first to the last device work. Loading of code is a separate cause.
Intervals warmUpWork(const Trace& trace, const std::vector<Step>& steps, const Intervals& any)
{
    const TimeRange recorded = steps.empty() ? TimeRange{any.front().begin, any.back().end}
                                             : TimeRange{steps.front().range.begin, steps.back().range.end};
    std::vector<OneTimePart> parts = oneTimeWork(trace, recorded);
    std::erase_if(parts, [](const OneTimePart& part) { return part.kind == OneTimeKind::CodeLoading; });
    return oneTimeIntervals(parts);
}

void attributeTime(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps,
                   const Intervals& analysed, DeviceFacts& facts)
{
    const std::set<DeviceId> working = workingDevices(scan);
    facts.devices = static_cast<int>(working.size());
    Nanoseconds busy{}, all{};
    for (const auto& [id, device] : scan.devices) {
        if (!working.contains(id))
            continue;
        const Intervals kernels = intersect(unite(device.kernels, device.memsets), analysed);
        const Intervals copies = subtract(intersect(device.copies, analysed), kernels);
        const Intervals communication = subtract(subtract(intersect(device.communication, analysed), kernels), copies);
        facts.computing += total(kernels);
        facts.copying += total(copies);
        facts.communicating += total(communication);
        all += total(analysed);
    }
    busy = facts.computing + facts.copying + facts.communicating;
    if (analysed.empty())
        return;
    if (toUs(all - busy) < kLeastIdle * toUs(all)) {
        facts.idle = idleCauses(scan, analysed);
        return;
    }
    const auto queued = queuedGaps(trace, scan, analysed, working);
    facts.idle = idleCauses(scan, analysed, &queued, warmUpWork(trace, steps, facts.any));
    for (const auto& [id, gaps] : queued) {
        facts.gaps += gaps.count;
        facts.queuedGaps += gaps.ofQueued;
    }
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

std::map<DeviceId, std::vector<IdleStretch>> idleStretches(const ActivityScan& scan,
                                                           const std::map<DeviceId, QueuedGaps>& queued)
{
    std::map<DeviceId, std::vector<IdleStretch>> found;
    std::array<Intervals, kCauses> activity = hostCauses(scan.host);
    for (const auto& [id, device] : scan.devices) {
        const Intervals busy = device.any();
        if (busy.empty())
            continue;
        const auto queue = queued.find(id);
        activity[Queued] = queue == queued.end() ? Intervals() : queue->second.queued;
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

double DeviceFacts::idleShare() const
{
    const Intervals analysed = betweenWork(*this);
    const auto all = static_cast<double>(total(analysed).count());
    return all > 0 ? static_cast<double>(total(subtract(analysed, any)).count()) / all : 0;
}

const IdleCause* DeviceFacts::idleCause(std::string_view cause) const
{
    const auto found = std::find_if(idle.begin(), idle.end(), [&](const IdleCause& row) { return row.cause == cause; });
    return found == idle.end() ? nullptr : &*found;
}

double DeviceFacts::idleShare(std::string_view cause) const
{
    const IdleCause* found = idleCause(cause);
    const auto all = static_cast<double>(total(betweenWork(*this)).count()) * std::max(devices, 1);
    return !found || all <= 0 ? 0 : static_cast<double>(found->time.count()) / all;
}

std::vector<double> DeviceFacts::idleInEachStep(std::initializer_list<std::string_view> causes) const
{
    std::vector<double> us(steps.size());
    for (const std::string_view cause : causes)
        if (const IdleCause* found = idleCause(cause))
            for (const auto& [device, where] : found->everywhere)
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    const std::vector<TimeRange> step{steps[i]};
                    us[i] += toUs(total(intersect(step, overlapping(where, steps[i])))) / std::max(devices, 1);
                }
    return us;
}

DeviceFacts deviceFacts(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps)
{
    DeviceFacts facts;
    facts.steps = steadyStateSteps(steps);
    facts.ranks = markingProcesses(trace, steps);
    for (const auto& [id, device] : scan.devices)
        facts.kernels = unite(std::move(facts.kernels), device.allKernels());
    facts.any = deviceBusy(scan);
    facts.window = analysedWindow(trace, facts);
    if (!facts.hasWork())
        return facts;
    facts.work = kernelWork(trace, facts.window);
    if (facts.work.all.count == 0 && facts.steps.size() < steps.size()) { // all kernels are in the first steps
        facts.steps = steadyStateSteps(steps, true);
        facts.window = analysedWindow(trace, facts);
        facts.work = kernelWork(trace, facts.window);
    }
    facts.copies = trace.ofKind(ActivityKind::GpuMemcpy);
    std::erase_if(facts.copies, [&](const Slice& copy) { return !beginsWithin(copy, facts.window); });
    attributeTime(trace, scan, steps, betweenWork(facts), facts);
    return facts;
}

} // namespace profiler::analysis
