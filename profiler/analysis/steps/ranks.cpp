#include "profiler/analysis/steps/ranks.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

namespace profiler::analysis {
namespace {

// A process with less device work than this share of the busiest one is not a rank, for example a process that only
// holds a context or clears some memory. The same as in workingDevices().
constexpr double kLeastShare = 0.05;
// Enough to see whose calls match.
constexpr std::size_t kMostSamples = 2'000;
// Share of the examined work. Calls that match less belong to other work with the same ids.
constexpr double kLeastFit = 0.5;
// Mean steps that differ by less count as equally long.
constexpr double kSlower = 1.01;

bool isOfHost(const Track& track)
{
    return track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
}

/// The start times of the calls of a process, by correlation id.
class CallTimes {
public:
    void add(std::uint64_t correlation, TraceTime begin) { m_calls.emplace_back(correlation, begin); }
    void sort() { std::ranges::sort(m_calls); }
    /// The last call with that correlation id that starts before `time`.
    [[nodiscard]] std::optional<TraceTime> before(std::uint64_t correlation, TraceTime time) const
    {
        const auto after = std::ranges::upper_bound(m_calls, std::pair(correlation, time));
        if (after == m_calls.begin() || std::prev(after)->first != correlation)
            return std::nullopt;
        return std::prev(after)->second;
    }

private:
    std::vector<std::pair<std::uint64_t, TraceTime>> m_calls;
};

struct DeviceWork {
    std::uint64_t correlation = 0;
    TraceTime begin{};
};

/// How well the calls of a process match the work of a device's rows.
struct Fit {
    std::int64_t process = 0;
    double count = 0;    ///< pieces of work with such a call before them
    double meanUs = 0;   ///< mean time from the call to the work
    double variance = 0; ///< variance of that time, µs²
};

Fit fitOf(const std::vector<DeviceWork>& work, std::int64_t process, const CallTimes& calls)
{
    Fit fit{.process = process};
    for (const DeviceWork& piece : work)
        if (const auto begin = calls.before(piece.correlation, piece.begin)) {
            const double us = toUs(piece.begin - *begin);
            const double before = us - fit.meanUs; // Welford's update
            fit.meanUs += before / ++fit.count;
            fit.variance += before * (us - fit.meanUs);
        }
    fit.variance = fit.count > 0 ? fit.variance / fit.count : 0;
    return fit;
}

/// The processes that may have launched a device's work, best first: those whose calls match most of it. Several match
/// if processes use the same ids. The right process then has the shortest and most even delays, because the jitter
/// between two processes adds to its own. A clearly better process is returned alone.
std::vector<std::int64_t> launchersOf(const std::vector<DeviceWork>& work,
                                      const std::map<std::int64_t, CallTimes>& calls)
{
    constexpr double kMuchSooner = 0.5, kMoreEven = 0.9, kSameCount = 0.99;
    std::vector<Fit> fits;
    double most = 0;
    for (const auto& [process, times] : calls) {
        fits.push_back(fitOf(work, process, times));
        most = std::max(most, fits.back().count);
    }
    std::erase_if(fits, [&](const Fit& fit) { return fit.count == 0 || fit.count < kSameCount * most; });
    if (fits.empty() || most < kLeastFit * static_cast<double>(work.size()))
        return {};
    for (double Fit::*how : {&Fit::meanUs, &Fit::variance}) {
        std::ranges::sort(fits, {}, how);
        const double clearly = how == &Fit::meanUs ? kMuchSooner : kMoreEven;
        if (fits.size() == 1 || fits[0].*how < clearly * fits[1].*how)
            return {fits[0].process};
    }
    std::ranges::sort(fits, {}, &Fit::process);
    std::vector<std::int64_t> processes;
    for (const Fit& fit : fits)
        processes.push_back(fit.process);
    return processes;
}

/// Processes and the activity of their threads.
struct Processes {
    std::map<std::int64_t, CallTimes> calling; ///< processes that call the runtime or the driver
    std::set<std::int64_t> marking;            ///< processes that mark steps
};

/// @return empty if there is nothing to distinguish: fewer than two processes call or mark
std::optional<Processes> processesOf(const Trace& trace, const std::vector<Step>& steps)
{
    Processes processes;
    const auto calls = [&](const Track& track) {
        return std::ranges::any_of(trace.slicesOf(track.id).blocks, [](const BlockRef& block) {
            return block.summary().holds(ActivityKind::CudaRuntime) || block.summary().holds(ActivityKind::CudaDriver);
        });
    };
    std::set<std::int64_t> streams; // processes that the trace names as owners of streams
    for (const Track& track : trace.tracks()) {
        if (isOfHost(track) && track.pid != 0 && calls(track))
            processes.calling.try_emplace(track.pid);
        if (track.kind == TrackKind::Stream)
            streams.insert(track.pid);
    }
    if (!steps.empty() && !steps.front().found) {
        if (const std::int64_t own = trace.track(steps.front().slice.track).pid; own != 0)
            processes.marking.insert(own);
        std::set<std::int64_t> others;
        for (const Track& track : trace.tracks())
            if (isOfHost(track) && !processes.marking.contains(track.pid))
                others.insert(track.pid);
        std::ranges::copy_if(others, std::inserter(processes.marking, processes.marking.end()),
                             [&](std::int64_t process) { return isOfOtherSteps(trace, process, steps); });
    }
    // At the detail level without calls, our recordings and Nsight's identify the process by the stream.
    const bool several = processes.calling.size() > 1 || processes.marking.size() > 1 ||
                         (trace.format() != "pytorch-json" && streams.size() > 1);
    return several ? std::optional(std::move(processes)) : std::nullopt;
}

void readCalls(const Trace& trace, std::map<std::int64_t, CallTimes>& calling)
{
    for (const Track& track : trace.tracks()) {
        const auto process = isOfHost(track) ? calling.find(track.pid) : calling.end();
        if (process == calling.end())
            continue;
        for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
            forEachViewOf(trace, track.id, kind, [&](const SliceView& call) {
                if (call.correlation().value != 0)
                    process->second.add(call.correlation().value, call.begin());
            });
    }
    for (auto& [pid, calls] : calling)
        calls.sort();
}

/// Streams and their processes; 0: unknown.
struct Streams {
    std::map<TrackId, std::int64_t> process;
    std::map<std::int64_t, Nanoseconds> work; ///< total device time by process
    std::map<std::int64_t, std::set<DeviceId>> devices;
};

/// The rows of a device in a file: its streams.
struct DeviceRows {
    std::vector<TrackId> tracks;
    std::vector<DeviceWork> work; ///< at most kMostSamples per stream
    Nanoseconds time{};
    DeviceId device;
};

void readWork(const Trace& trace, const Track& track, DeviceRows& rows)
{
    const std::size_t step = std::max<std::size_t>(1, trace.sliceCount(track.id) / kMostSamples);
    std::size_t seen = 0;
    bool worked = false;
    forEachView(trace, track.id, [&](const SliceView& slice) {
        if (!isDeviceWork(slice.kind()))
            return;
        worked = true;
        addSaturating(rows.time, slice.duration());
        if (slice.correlation().value != 0 && seen++ % step == 0)
            rows.work.push_back({slice.correlation().value, slice.begin()});
    });
    if (worked)
        rows.tracks.push_back(track.id);
    rows.device = track.device;
}

/// Pairs remaining devices and processes, which nothing else distinguishes, by their order: launchers start them in
/// order.
void assignInOrder(std::map<std::size_t, std::vector<std::int64_t>>& undecided, std::vector<std::int64_t>& owners)
{
    std::set<std::int64_t> taken(owners.begin(), owners.end());
    for (auto& [row, processes] : undecided) {
        const auto free = std::ranges::find_if(processes, [&](std::int64_t p) { return !taken.contains(p); });
        owners[row] = free == processes.end() ? processes.front() : *free;
        taken.insert(owners[row]);
    }
}

Streams assignStreams(const Trace& trace, const std::map<std::int64_t, CallTimes>& calling)
{
    // In PyTorch's files, the process of a device's rows is the device.
    const bool named = trace.format() != "pytorch-json";
    std::map<std::tuple<DeviceId, std::int64_t, std::string>, DeviceRows> devices;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            readWork(trace, track, devices[{track.device, track.pid, track.processName}]);
    std::vector<std::int64_t> owners;
    std::map<std::size_t, std::vector<std::int64_t>> undecided; // by index into `owners`
    for (const auto& [key, rows] : devices) {
        std::int64_t owner = named ? std::get<1>(key) : 0;
        if (owner == 0) {
            std::vector<std::int64_t> launchers = launchersOf(rows.work, calling);
            if (launchers.size() > 1)
                undecided[owners.size()] = std::move(launchers);
            else if (!launchers.empty())
                owner = launchers.front();
        }
        owners.push_back(owner);
    }
    assignInOrder(undecided, owners);
    Streams streams;
    std::size_t next = 0;
    for (const auto& [key, rows] : devices) {
        const std::int64_t owner = owners[next++];
        for (const TrackId track : rows.tracks)
            streams.process[track] = owner;
        if (rows.tracks.empty())
            continue;
        addSaturating(streams.work[owner], rows.time);
        streams.devices[owner].insert(rows.device);
    }
    return streams;
}

std::set<std::int64_t> rankProcesses(const Processes& processes, const Streams& streams)
{
    Nanoseconds most{};
    for (const auto& [process, time] : streams.work)
        if (process != 0)
            most = std::max(most, time);
    std::set<std::int64_t> ranks = processes.marking;
    for (const auto& [process, time] : streams.work) {
        if (process == 0 || toUs(time) < kLeastShare * toUs(most) || ranks.contains(process))
            continue;
        // A process that works on the device of a process with steps is a helper, for example a loader that decodes on
        // the device.
        const bool helps = std::ranges::any_of(processes.marking, [&](std::int64_t marking) {
            const auto own = streams.devices.find(marking);
            return own != streams.devices.end() &&
                   std::ranges::any_of(streams.devices.at(process),
                                       [&](DeviceId device) { return own->second.contains(device); });
        });
        if (!helps)
            ranks.insert(process);
    }
    return ranks;
}

/// The number after "rank", or in brackets after TP, PP, DP or EP; empty for other names.
std::optional<std::int64_t> rankIn(std::string_view name)
{
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 5> kMarks = {"rank", "[tp", "[dp", "[pp", "[ep"};
    for (const std::string_view mark : kMarks) {
        const auto at = lower.find(mark);
        if (at == lower.npos)
            continue;
        const auto digits = lower.find_first_not_of(" _-:#=", at + mark.size());
        std::int64_t number = 0;
        if (digits != lower.npos &&
            std::from_chars(lower.data() + digits, lower.data() + lower.size(), number).ec == std::errc{})
            return number;
    }
    return std::nullopt;
}

std::optional<std::int64_t> numberOfProcess(const Trace& trace, std::int64_t process)
{
    for (const Track& track : trace.tracks())
        if (isOfHost(track) && track.pid == process)
            for (const std::string& name : {track.processName, track.name})
                if (const auto number = rankIn(name))
                    return number;
    return std::nullopt;
}

/// Numbers the ranks by their names if these contain distinct numbers, otherwise by the order of devices and processes.
void numberRanks(const Trace& trace, std::vector<Rank>& ranks)
{
    std::set<std::int64_t> distinct;
    for (Rank& rank : ranks)
        if (const auto number = numberOfProcess(trace, rank.process); number && distinct.insert(*number).second)
            rank.number = *number;
    if (distinct.size() == ranks.size()) {
        std::ranges::sort(ranks, {}, &Rank::number);
        return;
    }
    std::ranges::sort(ranks, {}, [](const Rank& rank) {
        return std::tuple(rank.devices.empty(), rank.devices.empty() ? DeviceId{} : *rank.devices.begin(),
                          rank.process);
    });
    for (std::size_t i = 0; i < ranks.size(); ++i)
        ranks[i].number = static_cast<std::int64_t>(i);
}

std::string processName(const Trace& trace, std::int64_t process)
{
    for (const Track& track : trace.tracks())
        if (isOfHost(track) && track.pid == process && !track.processName.empty())
            return track.processName;
    return "process " + std::to_string(process);
}

/// The tracks of a rank: its own, and those that belong to no rank.
std::vector<bool> tracksOf(const Trace& trace, const Streams& streams, const std::set<std::int64_t>& ranks,
                           std::int64_t process)
{
    // Additional rows of a stream, such as its annotations, have the process and the device of its row.
    std::set<std::tuple<std::int64_t, std::string, DeviceId>> own, others;
    const auto place = [](const Track& track) { return std::tuple(track.pid, track.processName, track.device); };
    for (const auto& [track, owner] : streams.process)
        if (owner != 0)
            (owner == process ? own : others).insert(place(trace.track(track)));
    std::vector<bool> wanted;
    for (const Track& track : trace.tracks()) {
        const auto stream = streams.process.find(track.id);
        if (stream != streams.process.end())
            wanted.push_back(stream->second == process || !ranks.contains(stream->second));
        else if (track.kind == TrackKind::Annotation || track.kind == TrackKind::Stream)
            wanted.push_back(own.contains(place(track)) || !others.contains(place(track)));
        else
            wanted.push_back(track.pid == process || !ranks.contains(track.pid));
    }
    return wanted;
}

/// The steps of a rank by the same kind of marks as `like`.
std::vector<Step> stepsLike(const Trace& whole, const std::vector<Step>& like, const Rank& rank)
{
    if (like.empty() || like.front().found)
        return {};
    const Slice mark = whole.slice(like.front().slice);
    const bool chosen = mark.kind != ActivityKind::Step && !isProfilerStep(whole.name(mark));
    std::vector<Step> steps = findSteps(*rank.trace, chosen ? withoutNumber(whole.name(mark)) : std::string_view());
    // The marks of a process that is not a rank are in every rank's trace.
    if (!steps.empty() && whole.track(steps.front().slice.track).pid != rank.process)
        steps.clear();
    return steps;
}

double steadyUs(const Rank& rank)
{
    const StepStatistics statistics = stepStatistics(rank.steps);
    return statistics.steadyCount > 0 ? statistics.steadyMeanUs : statistics.meanUs;
}

Nanoseconds deviceTime(const Rank& rank)
{
    Nanoseconds time{};
    for (const Track& track : rank.trace->tracks())
        if (track.kind == TrackKind::Stream)
            forEachView(*rank.trace, track.id, [&](const SliceView& slice) {
                if (isDeviceWork(slice.kind()))
                    addSaturating(time, slice.duration());
            });
    return time;
}

} // namespace

std::vector<Rank> ranksOf(const Trace& trace, const std::vector<Step>& steps)
{
    std::optional<Processes> processes = processesOf(trace, steps);
    if (!processes)
        return {};
    readCalls(trace, processes->calling);
    const Streams streams = assignStreams(trace, processes->calling);
    const std::set<std::int64_t> ids = rankProcesses(*processes, streams);
    if (ids.size() < 2)
        return {};
    const bool shared =
        std::ranges::any_of(streams.process, [&](const auto& stream) { return !ids.contains(stream.second); });
    std::vector<Rank> ranks;
    for (const std::int64_t process : ids) {
        Rank& rank = ranks.emplace_back();
        rank.process = process;
        rank.name = processName(trace, process);
        rank.sharesDevices = shared;
        if (const auto devices = streams.devices.find(process); devices != streams.devices.end())
            rank.devices = devices->second;
        rank.trace = TraceBuilder::ofTracks(trace, tracksOf(trace, streams, ids, process));
        rank.steps = stepsLike(trace, steps, rank);
    }
    numberRanks(trace, ranks);
    return ranks;
}

const Rank& representativeRank(const std::vector<Rank>& ranks, const Trace& trace, const std::vector<Step>& steps)
{
    const std::int64_t own = steps.empty() ? 0 : trace.track(steps.front().slice.track).pid;
    auto best = std::ranges::find(ranks, own, &Rank::process);
    if (steps.empty() || best == ranks.end())
        return *std::ranges::max_element(ranks, {}, deviceTime);
    for (auto rank = ranks.begin(); rank != ranks.end(); ++rank)
        if (steadyUs(*rank) > kSlower * steadyUs(*best))
            best = rank;
    return *best;
}

} // namespace profiler::analysis
