#include "profiler/analysis/device/launches.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace profiler::analysis {

LaunchCalls::LaunchCalls(const Trace& trace, const std::stop_token& stop)
{
    const auto take = [&](const SliceView& call) {
        if (call.correlation().value != 0)
            m_calls.push_back({call.correlation().value, call.range(), call.id()});
    };
    for (const Track& track : trace.tracks())
        for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
            forEachViewOf(trace, track.id, kind, take, stop);
    sortRuns(m_calls, [](const LaunchCall& a, const LaunchCall& b) {
        return std::tie(a.correlation, a.range.begin) < std::tie(b.correlation, b.range.begin);
    });
}

const LaunchCall* LaunchCalls::find(std::uint64_t correlation) const
{
    const auto found =
        std::lower_bound(m_calls.begin(), m_calls.end(), correlation,
                         [](const LaunchCall& call, std::uint64_t wanted) { return call.correlation < wanted; });
    return correlation != 0 && found != m_calls.end() && found->correlation == correlation ? &*found : nullptr;
}

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

/// A change of a device's queue. Among changes at the same time, ends come first: a launch at the end of the last work
/// finds an empty queue.
struct Change {
    enum What : std::uint8_t { Ends, Launched, Begins };
    TraceTime time{};
    What what = Ends;
    bool known = false; ///< Launched: by a recorded call, of which this is the first work
};

std::vector<Change> changesOf(const std::vector<LaunchedWork>& works)
{
    std::vector<Change> launched, begun, ended;
    std::uint64_t last = 0;
    for (const LaunchedWork& work : works) {
        const bool first = work.call && work.call->correlation != last;
        last = work.call ? work.call->correlation : last;
        const TraceTime time = work.call ? std::min(work.call->range.begin, work.range.begin) : work.range.begin;
        launched.push_back({time, Change::Launched, first});
        begun.push_back({work.range.begin, Change::Begins});
        ended.push_back({work.range.end, Change::Ends});
    }
    std::vector<Change> changes = std::move(ended);
    changes.insert(changes.end(), launched.begin(), launched.end());
    changes.insert(changes.end(), begun.begin(), begun.end());
    sortRuns(changes,
             [](const Change& a, const Change& b) { return std::tie(a.time, a.what) < std::tie(b.time, b.what); });
    return changes;
}

/// Walks through the changes of a queue and integrates its depth over the time within a window.
class Depths {
public:
    Depths(const Intervals& window, DeviceLaunches& device, const std::stop_token& stop)
        : m_window(window), m_device(device), m_stop(stop)
    {
    }

    void run(const std::vector<Change>& changes)
    {
        TraceTime since = changes.front().time;
        for (const Change& change : changes) {
            if (m_stop.stop_requested())
                return;
            weigh({since, change.time});
            since = change.time;
            if (change.what == Change::Launched)
                launch(change);
            else if (change.what == Change::Begins && (m_window.empty() || beginsWithin(change.time, m_window))) {
                ++m_starts;
                m_waiting += m_queued - 1; // without this work itself
            }
            m_queued += change.what == Change::Launched ? 1 : change.what == Change::Begins ? -1 : 0;
            m_running += change.what == Change::Begins ? 1 : change.what == Change::Ends ? -1 : 0;
        }
        const double ns = static_cast<double>(m_device.time.count());
        if (ns > 0) {
            m_device.meanDepth = m_depthNs / ns;
            m_device.emptyShare = static_cast<double>(m_emptyTime.count()) / ns;
        }
        if (m_starts > 0)
            m_device.queueAtStart = static_cast<double>(m_waiting) / static_cast<double>(m_starts);
        if (m_launches > 0)
            m_device.foundEmptyShare = static_cast<double>(m_foundEmpty) / static_cast<double>(m_launches);
    }

private:
    void launch(const Change& change)
    {
        if (!change.known || (!m_window.empty() && !beginsWithin(change.time, m_window)))
            return;
        ++m_launches;
        m_foundEmpty += m_queued == 0 && m_running == 0 ? 1 : 0;
    }

    void weigh(TimeRange range)
    {
        Nanoseconds time = range.duration();
        if (!m_window.empty()) {
            time = {};
            for (const TimeRange& piece : overlapping(m_window, range))
                time += range.clippedTo(piece).duration();
        }
        if (time.count() == 0)
            return;
        m_device.time += time;
        m_device.maxDepth = std::max(m_device.maxDepth, m_queued);
        m_depthNs += static_cast<double>(m_queued) * static_cast<double>(time.count());
        if (m_queued == 0 && m_running == 0)
            m_emptyTime += time;
    }

    const Intervals& m_window;
    DeviceLaunches& m_device;
    const std::stop_token& m_stop;
    std::int64_t m_queued = 0, m_running = 0, m_launches = 0, m_foundEmpty = 0, m_starts = 0, m_waiting = 0;
    double m_depthNs = 0;
    Nanoseconds m_emptyTime{};
};

/// Counts calls and delays of work launched within the part. Work without a call is assigned by its own start.
void countLaunches(const std::vector<LaunchedWork>& works, const AnalysedPart& part, DeviceLaunches& device)
{
    std::vector<double> calls, delays;
    std::uint64_t last = 0;
    for (const LaunchedWork& work : works) {
        if (!(work.call ? part.holdsOnHost(work.call->range.begin) : part.holds(work.range.begin)))
            continue;
        ++device.work;
        if (!work.call)
            continue;
        ++device.linked;
        const bool first = work.call->correlation != last;
        last = work.call->correlation;
        if (!first)
            continue;
        ++device.launches;
        if (work.kind == ActivityKind::Kernel)
            calls.push_back(toUs(work.call->range.duration()));
        if (work.range.begin < work.call->range.begin)
            ++device.backwards;
        else
            delays.push_back(toUs(work.range.begin - work.call->range.begin));
    }
    device.launchesPerStep = part.perStep(static_cast<double>(device.launches));
    device.callUs = percentile(calls, 0.5);
    device.callUsP99 = percentile(std::move(calls), 0.99);
    device.delayUs = percentile(delays, 0.5);
    device.delayUsP95 = percentile(std::move(delays), 0.95);
}

/// The work of each device, grouped by launch and in order within each launch.
std::map<DeviceId, std::vector<LaunchedWork>> workByDevice(const Trace& trace, const LaunchCalls& calls,
                                                           const std::stop_token& stop)
{
    std::map<DeviceId, std::vector<LaunchedWork>> devices;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Stream)
            continue;
        const auto take = [&](const SliceView& slice) {
            if (!isDeviceWork(slice.kind()))
                return;
            const LaunchCall* call = calls.find(slice.correlation().value);
            devices[track.device].push_back(
                {slice.range(), slice.id(), slice.kind(), call ? std::optional(*call) : std::nullopt});
        };
        forEachView(trace, track.id, take, stop);
    }
    if (stop.stop_requested())
        return {};
    for (auto& [id, works] : devices)
        sortRuns(works, [](const LaunchedWork& a, const LaunchedWork& b) {
            const auto correlation = [](const LaunchedWork& work) { return work.call ? work.call->correlation : 0; };
            return std::tuple{correlation(a), a.range.begin} < std::tuple{correlation(b), b.range.begin};
        });
    return devices;
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

std::map<DeviceId, QueuedGaps> queuedGaps(const Trace& trace, const ActivityScan& scan)
{
    std::set<DeviceId> devices;
    for (const auto& [id, device] : scan.devices)
        devices.insert(id);
    return queuedGaps(trace, scan, std::array{kAllTime}, devices);
}

LaunchStatistics launchStatistics(const Trace& trace, const LaunchCalls& calls, const AnalysedPart& part,
                                  const std::stop_token& stop)
{
    LaunchStatistics statistics;
    for (const auto& [id, works] : workByDevice(trace, calls, stop)) {
        if (stop.stop_requested())
            return {};
        statistics.anyWork = true;
        DeviceLaunches device{.id = id};
        countLaunches(works, part, device);
        if (device.linked == 0)
            continue;
        Depths(part.window, device, stop).run(changesOf(works));
        statistics.devices.push_back(device);
    }
    if (!statistics.devices.empty())
        return statistics;
    statistics.cannotTell = !statistics.anyWork ? "the trace contains no device work"
                            : calls.empty()
                                ? "the trace contains no launch calls, or no correlation between calls and work"
                                : "no call in the steps launched device work of the trace";
    return statistics;
}

} // namespace profiler::analysis
