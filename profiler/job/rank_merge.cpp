#include "profiler/job/rank_merge.h"

#include "profiler/analysis/job/job_analysis.h"
#include "profiler/formats/format.h"
#include "profiler/model/trace_builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace profiler::job {

namespace {

using analysis::CollectiveCall;
using analysis::JobSteps;
using analysis::MatchedCollective;
using analysis::RankClock;
using analysis::RankDigest;

constexpr TimeRange kAlways{TraceTime::min(), TraceTime::max()}; ///< no limit
constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kFirstFreeProcess = std::int64_t{1} << 23; // Linux: process ids are at most 2^22
constexpr std::uint32_t kFirstFreeDevice = 1U << 20;
constexpr int kLinkBits = 40; ///< of a correlation id or sequence number; the bits above are the rank's position

/// Copies one rank's trace into the builder.
class RankCopy {
public:
    RankCopy(TraceBuilder& builder, const Trace& trace, const RankDigest& digest, const RankClock& clock,
             std::size_t position)
        : m_builder(builder), m_trace(trace), m_digest(digest), m_clock(clock), m_position(position),
          m_strings(trace.stringCount(), kUnknown)
    {
        for (std::uint32_t i = 0; i < digest.communication.calls.size(); ++i)
            m_calls.emplace(digest.communication.calls[i].range.begin, i);
        m_trackOf.resize(digest.communication.calls.size());
    }

    /// @param process  its number in the merged trace
    /// @param devices  numbers of its devices in the merged trace
    void copy(std::int64_t process, const std::map<DeviceId, DeviceId>& devices, TimeRange window,
              std::uint32_t external)
    {
        m_devices = &devices;
        m_external = external;
        for (const Track& track : m_trace.tracks())
            if (track.kind == TrackKind::Counter || m_trace.sliceCount(track.id) > 0)
                copyTrack(track, process, window);
    }

    [[nodiscard]] std::uint32_t mostExternal() const { return m_mostExternal; }
    /// The tracks with its collective calls; empty: not in the merged trace.
    [[nodiscard]] std::vector<std::optional<TrackId>> takeTracks() { return std::move(m_trackOf); }

private:
    void copyTrack(Track track, std::int64_t process, TimeRange window)
    {
        const TrackId from = track.id;
        track.pid = process;
        track.processName = mergedName(m_digest);
        track.processSortIndex = static_cast<std::int32_t>(m_position);
        track.device = merged(track.device);
        const bool isCounter = track.kind == TrackKind::Counter;
        const TrackId to = m_builder.addTrack(std::move(track));
        if (isCounter) {
            std::vector<CounterSample> samples;
            for (const CounterSample& sample : m_trace.counter(from))
                if (const TraceTime time = m_clock(sample.time); window.begin <= time && time <= window.end)
                    samples.push_back({time, sample.value});
            m_builder.addSamples(to, std::move(samples), SampleMeaning::Value);
            return;
        }
        std::vector<RawSlice> slices;
        m_trace.forEach(from, {m_trace.range().begin, m_trace.range().end + Nanoseconds(1)}, [&](const Slice& slice) {
            const TraceTime begin = m_clock(slice.begin), end = m_clock(slice.end());
            if (end >= window.begin && begin <= window.end) {
                slices.push_back(raw(slice, begin, end));
                noteCall(slice, to);
            }
            return true;
        });
        m_builder.addMany(to, std::move(slices), Depth::Given);
    }

    [[nodiscard]] DeviceId merged(DeviceId device) const
    {
        const auto found = m_devices->find(device);
        return found == m_devices->end() ? device : found->second;
    }
    StringId merged(StringId text)
    {
        std::uint32_t& known = m_strings[text.value];
        if (known == kUnknown)
            known = m_builder.intern(m_trace.string(text)).value;
        return {known};
    }

    RawSlice raw(const Slice& slice, TraceTime begin, TraceTime end)
    {
        RawSlice made;
        made.begin = toNs(begin);
        made.duration = (end - begin).count();
        // Ids that connect slices count per process.
        const std::int64_t own = static_cast<std::int64_t>(m_position) << kLinkBits;
        const auto correlation = static_cast<std::int64_t>(slice.correlation.value);
        if (slice.kind == ActivityKind::CpuOp)
            made.link = slice.sequence >= 0 ? slice.sequence + own : -1;
        else
            made.link = correlation != 0 ? correlation + own : 0;
        made.name = merged(slice.name).value;
        SliceArgs args = slice.args;
        args.shapes = merged(args.shapes);
        args.types = merged(args.types);
        if (args.device)
            args.device = merged(*args.device);
        if (args.launch.value != 0)
            args.launch = m_builder.internLaunch(m_trace.launch(args.launch));
        made.args = m_builder.internArgs(args);
        if (slice.externalId != 0) {
            made.external = slice.externalId + m_external;
            m_mostExternal = std::max(m_mostExternal, slice.externalId);
        }
        made.kind = slice.kind;
        made.depth = slice.depth;
        made.flags = slice.flags;
        made.clampTimes();
        return made;
    }

    void noteCall(const Slice& slice, TrackId track)
    {
        for (auto [call, last] = m_calls.equal_range(slice.begin); call != last; ++call)
            if (m_digest.communication.calls[call->second].range == slice.range())
                m_trackOf[call->second] = track;
    }

    TraceBuilder& m_builder;
    const Trace& m_trace;
    const RankDigest& m_digest;
    const RankClock& m_clock;
    const std::size_t m_position;
    const std::map<DeviceId, DeviceId>* m_devices = nullptr;
    std::uint32_t m_external = 0, m_mostExternal = 0;
    std::vector<std::uint32_t> m_strings;            ///< by id in the rank's trace: id in the merged one
    std::multimap<TraceTime, std::uint32_t> m_calls; ///< by start
    std::vector<std::optional<TrackId>> m_trackOf;   ///< by call
};

class Merging {
public:
    Merging(const Job& job, std::span<const std::size_t> ranks, const MergeOptions& options)
        : m_job(job), m_ranks(ranks), m_options(options),
          m_threads(options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())),
          m_trackOf(job.ranks.size())
    {
    }

    Result<std::shared_ptr<const Trace>> merge()
    {
        chooseWindow();
        std::set<std::size_t> files;
        for (std::size_t i = 0; i < m_ranks.size(); ++i) {
            // A file may contain several ranks; it is copied once.
            if (files.insert(m_job.fileOf[m_ranks[i]]).second)
                if (auto failed = add(i))
                    return tl::unexpected(std::move(*failed));
            if (m_options.progress)
                m_options.progress(static_cast<double>(i + 1) / static_cast<double>(m_ranks.size()));
        }
        connectCollectives();
        m_builder.setFormat("stepscope");
        auto trace = m_builder.finish(m_threads, m_options.stop);
        if (!trace || m_options.stop.stop_requested())
            return cancelled();
        return trace;
    }

private:
    static tl::unexpected<Error> cancelled()
    {
        return fail<"job.merge_cancelled", "merging the ranks was cancelled">(Error::Code::Cancelled);
    }

    /// Limits the merged trace to some steps if the ranks have too many events.
    void chooseWindow()
    {
        std::uint64_t events = 0;
        for (const std::size_t rank : m_ranks)
            events += m_job.ranks[rank].events;
        const JobSteps steps = analysis::jobSteps(m_job.ranks);
        if (events <= m_options.mostSlices || steps.count() == 0)
            return;
        const double share = static_cast<double>(m_options.mostSlices) / static_cast<double>(events);
        const auto kept =
            std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(steps.count())));
        const std::size_t middle = std::min(m_options.step.value_or(0), steps.count() - 1);
        const std::size_t first =
            std::min(middle - std::min(middle, kept / 2), steps.count() - std::min(kept, steps.count()));
        const std::size_t last = std::min(first + kept, steps.count()) - 1;
        TimeRange window{TraceTime::max(), TraceTime::min()};
        for (const std::size_t rank : m_ranks)
            for (const std::size_t step : {first, last})
                if (const std::int32_t own = steps.own[rank][step]; own >= 0) {
                    const TimeRange range = m_job.ranks[rank].steps[static_cast<std::size_t>(own)].range;
                    const RankClock& clock = m_job.analysis.clock.ranks[rank];
                    window.begin = std::min(window.begin, clock(range.begin));
                    window.end = std::max(window.end, clock(range.end));
                }
        if (window.empty())
            return;
        m_window = window;
        m_builder.captureStats().notes.push_back(
            message<"job.merged_part",
                    "The ranks have {events} events, too many to show together: only steps {first} to "
                    "{last} are shown.">(
                {{"events", events}, {"first", steps.numbers[first]}, {"last", steps.numbers[last]}}));
    }

    std::optional<Error> add(std::size_t position)
    {
        const std::size_t rank = m_ranks[position];
        formats::ReadOptions options;
        options.threads = m_threads;
        options.stop = m_options.stop;
        const auto trace = formats::openTrace(m_job.files.files[m_job.fileOf[rank]], options);
        if (m_options.stop.stop_requested())
            return cancelled().value();
        if (!trace)
            return trace.error();
        if (position == 0)
            for (const auto& [key, value] : (*trace)->metadata())
                m_builder.setMetadata(key, value);
        const CaptureStats& stats = (*trace)->captureStats();
        m_builder.captureStats().dropped += stats.dropped;
        m_builder.captureStats().unmatched += stats.unmatched;
        RankCopy copy(m_builder, **trace, m_job.ranks[rank], m_job.analysis.clock.ranks[rank], position);
        copy.copy(processOf(**trace), devicesOf(**trace, rank), m_window, m_external);
        m_external += copy.mostExternal() + 1;
        m_trackOf[rank] = copy.takeTracks();
        return std::nullopt;
    }

    /// The rank's process id, if no other rank has the same one on another host.
    std::int64_t processOf(const Trace& trace)
    {
        for (const Track& track : trace.tracks())
            if (track.pid > 0 && (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread) &&
                trace.sliceCount(track.id) > 0 && m_processes.insert(track.pid).second)
                return track.pid;
        std::int64_t free = kFirstFreeProcess;
        while (!m_processes.insert(free).second)
            ++free;
        return free;
    }

    /// Each rank's first device gets the rank's number: on each host, devices count from 0.
    std::map<DeviceId, DeviceId> devicesOf(const Trace& trace, std::size_t rank)
    {
        std::set<DeviceId> used;
        for (const Track& track : trace.tracks())
            if ((track.kind == TrackKind::Stream || track.kind == TrackKind::Annotation) &&
                trace.sliceCount(track.id) > 0)
                used.insert(track.device);
        std::map<DeviceId, DeviceId> devices;
        auto number = static_cast<std::uint32_t>(m_job.ranks[rank].rank);
        for (const DeviceId device : used) {
            for (; !m_deviceNumbers.insert(number).second; number = std::max(number + 1, kFirstFreeDevice)) {
            }
            devices[device] = {number};
            for (Device known : trace.devices())
                if (known.id == device) {
                    known.id = {number};
                    m_builder.addDevice(std::move(known));
                }
        }
        return devices;
    }

    /// Arrows from the rank that arrived last at a collective to those that waited for it.
    void connectCollectives()
    {
        const auto callOf = [&](MatchedCollective::Member member) -> const CollectiveCall& {
            return m_job.ranks[member.rank].communication.calls[member.call];
        };
        const auto endOf = [&](MatchedCollective::Member member) -> std::optional<FlowEnd> {
            const auto& tracks = m_trackOf[member.rank];
            if (tracks.empty() || !tracks[member.call])
                return std::nullopt;
            return FlowEnd{*tracks[member.call], m_job.analysis.clock.ranks[member.rank](callOf(member).range.begin)};
        };
        for (const MatchedCollective& collective : m_job.analysis.calls.all) {
            if (!analysis::waitsForAll(collective.kind))
                continue;
            const auto members = m_job.analysis.calls.of(collective);
            const auto last = std::ranges::min_element(
                members, {}, [&](MatchedCollective::Member member) { return callOf(member).range.duration(); });
            const auto from = endOf(*last);
            for (auto member = members.begin(); from && member != members.end(); ++member)
                if (const auto to = endOf(*member); to && member != last)
                    m_builder.addFlow(FlowKind::Async, *from, *to);
        }
    }

    const Job& m_job;
    const std::span<const std::size_t> m_ranks;
    const MergeOptions& m_options;
    const unsigned m_threads;
    TraceBuilder m_builder;
    TimeRange m_window = kAlways;
    std::uint32_t m_external = 0;
    std::set<std::int64_t> m_processes;
    std::set<std::uint32_t> m_deviceNumbers;
    std::vector<std::vector<std::optional<TrackId>>> m_trackOf; ///< by rank and call
};

} // namespace

std::string mergedName(const RankDigest& rank)
{
    return "rank " + std::to_string(rank.rank) + (rank.host.empty() ? "" : " on " + rank.host);
}

Result<std::shared_ptr<const Trace>> mergeRanks(const Job& job, std::span<const std::size_t> ranks,
                                                const MergeOptions& options)
{
    return Merging(job, ranks.first(std::min(ranks.size(), kMostMerged)), options).merge();
}

} // namespace profiler::job
