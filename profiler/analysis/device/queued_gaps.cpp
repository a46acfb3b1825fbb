#include "profiler/analysis/device/queued_gaps.h"

#include "profiler/analysis/device/launched_work.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>

namespace profiler::analysis {

namespace {

struct Gap {
    TimeRange range;
    bool linked = false, queued = false;
};

/// The gaps between busy times of a device that overlap the window. They are not clipped to it and are in order.
std::vector<Gap> gapsOf(const Intervals& busy, std::span<const TimeRange> within)
{
    std::vector<Gap> gaps;
    for (std::size_t i = 1; i < busy.size(); ++i)
        if (const TimeRange gap{busy[i - 1].end, busy[i].begin}; !overlapping(within, gap).empty())
            gaps.push_back({gap});
    return gaps;
}

/// For gaps that end with work of one stream: finds the launches of that work.
void findLaunches(const Trace& trace, TrackId stream, const LaunchCalls& calls, std::vector<Gap>& gaps)
{
    forEachView(trace, stream, [&](const SliceView& work) {
        if (!isDeviceWork(work.kind()))
            return;
        const auto gap = std::lower_bound(gaps.begin(), gaps.end(), work.begin(),
                                          [](const Gap& row, TraceTime time) { return row.range.end < time; });
        if (gap == gaps.end() || gap->range.end != work.begin())
            return;
        const LaunchCall* call = calls.find(work.correlation().value);
        if (!call)
            return;
        gap->linked = true;
        gap->queued = gap->queued || call->range.end <= gap->range.begin;
    });
}

} // namespace

std::map<DeviceId, QueuedGaps> queuedGaps(const Trace& trace, const ActivityScan& scan,
                                          std::span<const TimeRange> within, const std::set<DeviceId>& devices)
{
    std::map<DeviceId, QueuedGaps> found;
    const LaunchCalls calls(trace);
    if (calls.empty())
        return found;
    for (const auto& [id, device] : scan.devices) {
        if (!devices.contains(id))
            continue;
        std::vector<Gap> gaps = gapsOf(device.any(), within);
        for (const Track& track : trace.tracks())
            if (track.kind == TrackKind::Stream && track.device == id && !gaps.empty())
                findLaunches(trace, track.id, calls, gaps);
        QueuedGaps& of = found[id];
        for (const Gap& gap : gaps) {
            of.count += gap.linked ? 1 : 0;
            if (!gap.queued)
                continue;
            ++of.ofQueued;
            of.queued.push_back(gap.range);
        }
    }
    return found;
}

} // namespace profiler::analysis
