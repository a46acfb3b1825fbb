#include "profiler/analysis/device_use.h"

#include "profiler/analysis/phases.h"

#include <algorithm>
#include <array>
#include <map>

namespace profiler::analysis {

namespace {

bool isRuntime(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

struct DeviceWork {
    std::vector<TimeRange> kernels, any;
    int streams = 0;
};

std::map<DeviceId, DeviceWork> deviceWork(const Trace& trace)
{
    std::map<DeviceId, DeviceWork> devices;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Stream)
            continue;
        DeviceWork stream;
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            if (isDeviceWork(slice.kind))
                stream.any.push_back(slice.range());
            if (slice.kind == ActivityKind::Kernel)
                stream.kernels.push_back(slice.range());
            return true;
        });
        if (stream.any.empty())
            continue;
        DeviceWork& device = devices[track.device];
        ++device.streams;
        device.any.insert(device.any.end(), stream.any.begin(), stream.any.end());
        device.kernels.insert(device.kernels.end(), stream.kernels.begin(), stream.kernels.end());
    }
    return devices;
}

enum Cause { DataLoader, Sync, Copy, Allocation, Launch, kCauses };
constexpr std::array<std::string_view, kCauses + 1> kCauseNames = {"data_loader", "sync",   "copy",
                                                                   "allocation",  "launch", "other"};

/// What a slice of a host thread explains of a device's idleness; kCauses: nothing.
Cause causeOf(const Trace& trace, const Phases& phases, const Slice& slice)
{
    const std::string_view name = trace.name(slice);
    if (slice.kind == ActivityKind::Sync)
        return Sync;
    if (phases.isDataWait(slice))
        return DataLoader;
    if (isRuntime(slice.kind)) {
        if (isSyncCall(name))
            return Sync;
        if (isBlockingCopy(name))
            return Copy;
        if (name.find("Malloc") != name.npos || name.find("Free") != name.npos || name.find("MemAlloc") != name.npos)
            return Allocation;
        return Launch;
    }
    return slice.kind == ActivityKind::CpuOp || slice.kind == ActivityKind::Phase ? Launch : kCauses;
}

std::array<Intervals, kCauses> hostActivity(const Trace& trace)
{
    const Phases phases(trace);
    std::array<std::vector<TimeRange>, kCauses> ranges;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            if (const Cause cause = causeOf(trace, phases, slice); cause != kCauses)
                ranges[cause].push_back(slice.range());
            return true;
        });
    }
    std::array<Intervals, kCauses> activity;
    for (std::size_t i = 0; i < kCauses; ++i)
        activity[i] = unite(std::move(ranges[i]));
    return activity;
}

} // namespace

bool isCommunication(std::string_view kernelName)
{
    constexpr std::array<std::string_view, 4> kMarks = {"nccl", "NCCL", "rccl", "RCCL"};
    return std::any_of(kMarks.begin(), kMarks.end(),
                       [&](std::string_view mark) { return kernelName.find(mark) != kernelName.npos; });
}

bool isSyncCall(std::string_view callName)
{
    return callName.find("Synchronize") != callName.npos;
}

bool isBlockingCopy(std::string_view callName)
{
    return callName.find("Memcpy") != callName.npos && callName.find("Async") == callName.npos;
}

Intervals deviceBusy(const Trace& trace)
{
    std::vector<TimeRange> ranges;
    for (auto& [id, work] : deviceWork(trace))
        ranges.insert(ranges.end(), work.any.begin(), work.any.end());
    return unite(std::move(ranges));
}

std::vector<DeviceUse> deviceUse(const Trace& trace)
{
    std::vector<DeviceUse> devices;
    for (auto& [id, work] : deviceWork(trace)) {
        const Intervals any = unite(std::move(work.any));
        const auto known = std::find_if(trace.devices().begin(), trace.devices().end(),
                                        [&, wanted = id](const Device& device) { return device.id == wanted; });
        devices.push_back({.id = id,
                           .name = known == trace.devices().end() ? std::string() : known->name,
                           .busyKernel = total(unite(std::move(work.kernels))),
                           .busyAny = total(any),
                           .span = any.empty() ? Nanoseconds{0} : any.back().end - any.front().begin,
                           .streams = work.streams});
    }
    return devices;
}

std::vector<IdleCause> idleCauses(const Trace& trace)
{
    std::array<Nanoseconds, kCauses + 1> times{};
    std::array<Intervals, kCauses> activity;
    auto devices = deviceWork(trace);
    if (!devices.empty())
        activity = hostActivity(trace);
    for (auto& [id, work] : devices) {
        const Intervals busy = unite(std::move(work.any));
        if (busy.empty())
            continue;
        const std::vector<TimeRange> span{{busy.front().begin, busy.back().end}};
        Intervals idle = subtract(span, busy);
        for (std::size_t i = 0; i < kCauses; ++i) {
            times[i] += total(intersect(idle, activity[i]));
            idle = subtract(idle, activity[i]);
        }
        times[kCauses] += total(idle);
    }
    std::vector<IdleCause> causes;
    for (std::size_t i = 0; i <= kCauses; ++i)
        if (times[i].count() > 0)
            causes.push_back({kCauseNames[i], times[i]});
    std::sort(causes.begin(), causes.end(), [](const IdleCause& a, const IdleCause& b) { return a.time > b.time; });
    return causes;
}

SyncUse syncUse(const Trace& trace)
{
    SyncUse use, waits;
    for (const Track& track : trace.tracks())
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            const std::string_view name = trace.name(slice);
            if (slice.kind == ActivityKind::Sync) {
                ++waits.calls;
                waits.time += slice.duration;
            } else if (isRuntime(slice.kind) && isSyncCall(name)) {
                ++use.calls;
                use.time += slice.duration;
            } else if (isRuntime(slice.kind) && isBlockingCopy(name)) {
                ++use.blockingCopies;
                use.blockingCopyTime += slice.duration;
            }
            return true;
        });
    if (use.calls == 0) {
        use.calls = waits.calls;
        use.time = waits.time;
    }
    return use;
}

} // namespace profiler::analysis
