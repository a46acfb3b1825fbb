#include "profiler/analysis/job/rank_digest.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/model/nvml_values.h"
#include "profiler/model/parse_number.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

bool isOnHost(const Track& track)
{
    return track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
}

std::string_view metadataOf(const Trace& trace, std::string_view key)
{
    const auto entry = trace.metadata().find(key);
    return entry == trace.metadata().end() ? std::string_view() : std::string_view(entry->second);
}

/// Index of the step that contains a time; −1 if there is none.
std::int32_t stepAt(const std::vector<RankStep>& steps, TraceTime time)
{
    const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                        [](TraceTime t, const RankStep& step) { return t < step.range.begin; });
    if (after == steps.begin() || !std::prev(after)->range.contains(time))
        return -1;
    return static_cast<std::int32_t>(after - steps.begin()) - 1;
}

Intervals garbageCollection(const Trace& trace)
{
    NameAnswers collects(trace, isGarbageCollection);
    std::vector<TimeRange> ranges;
    for (const Track& track : trace.tracks())
        if (isOnHost(track))
            for (const ActivityKind kind :
                 {ActivityKind::Other, ActivityKind::UserAnnotation, ActivityKind::Nvtx, ActivityKind::CpuOp})
                forEachViewOf(trace, track.id, kind, [&](const SliceView& slice) {
                    if (collects(slice.nameId()))
                        ranges.push_back(slice.range());
                });
    return unite(std::move(ranges));
}

bool isDataParallel(std::string_view name)
{
    return name.starts_with("DataParallel.forward");
}

/// The parts of a rank's time as sets; Host is what the others leave.
struct PartSets {
    std::array<Intervals, kRankTimeParts> of;
    Intervals& at(RankTimePart part) { return of[static_cast<std::size_t>(part)]; }
};

/// Operators with their self time, for traces without device work.
class HostWork {
public:
    explicit HostWork(const Trace& trace) : m_trace(trace), m_wanted(trace, isWork)
    {
        for (const Track& track : trace.tracks())
            if (isOnHost(track))
                readTrack(track.id);
    }
    [[nodiscard]] Intervals computing() { return unite(std::move(m_ranges)); }
    struct Piece {
        StringId name;
        TraceTime begin{};
        Nanoseconds self{};
    };
    [[nodiscard]] const std::vector<Piece>& pieces() const { return m_pieces; }

private:
    /// Communication, and operators around the whole backward pass, are not compute.
    static bool isWork(std::string_view name) { return !isCommunicationCall(name) && !isGarbageCollection(name); }

    void readTrack(TrackId track)
    {
        std::vector<std::size_t> open; // pieces that may contain the next operator
        std::vector<TraceTime> ends;
        for (const SliceBrief& op : briefsWhere(m_trace, track, [&](const SliceView& slice) {
                 return slice.kind() == ActivityKind::CpuOp && m_wanted(slice.nameId());
             })) {
            while (!ends.empty() && ends.back() <= op.begin) {
                ends.pop_back();
                open.pop_back();
            }
            if (open.empty())
                m_ranges.push_back(op.range());
            else
                m_pieces[open.back()].self -= std::min(op.duration, m_pieces[open.back()].self);
            open.push_back(m_pieces.size());
            ends.push_back(op.end());
            m_pieces.push_back({op.name, op.begin, op.duration});
        }
    }

    const Trace& m_trace;
    NameAnswers<bool (*)(std::string_view)> m_wanted;
    std::vector<TimeRange> m_ranges;
    std::vector<Piece> m_pieces;
};

PartSets deviceParts(const ActivityScan& scan)
{
    PartSets sets;
    for (const auto& [id, device] : scan.devices) {
        const auto add = [&](RankTimePart part, const Intervals& more) {
            sets.at(part) = unite(std::move(sets.at(part)), Intervals(more));
        };
        add(RankTimePart::Compute, device.kernels);
        add(RankTimePart::Copy, device.copies);
        add(RankTimePart::Copy, device.memsets);
        add(RankTimePart::Communication, device.communication);
    }
    return sets;
}

/// Divides the steps' time among the parts.
void divideSteps(PartSets& sets, std::vector<RankStep>& steps)
{
    Intervals taken;
    for (std::size_t i = 0; i + 1 < kRankTimeParts; ++i) {
        const Intervals mine = subtract(sets.of[i], taken);
        for (RankStep& step : steps)
            for (const TimeRange& range : overlapping(mine, step.range))
                step.parts[i] += range.clippedTo(step.range).duration();
        taken = unite(std::move(taken), Intervals(sets.of[i]));
    }
    for (RankStep& step : steps) {
        Nanoseconds rest = step.range.duration();
        for (std::size_t i = 0; i + 1 < kRankTimeParts; ++i)
            rest -= step.parts[i];
        step.parts[static_cast<std::size_t>(RankTimePart::Host)] = std::max(rest, Nanoseconds{0});
    }
}

/// Adds up times by name and step.
class WorkTotals {
public:
    WorkTotals(const Trace& trace, const std::vector<RankStep>& steps) : m_trace(trace), m_steps(steps) {}

    void add(StringId name, TraceTime begin, Nanoseconds time)
    {
        // Work mostly arrives by start, so the step of the previous piece is usually the right one.
        if (m_last < 0 || !m_steps[static_cast<std::size_t>(m_last)].range.contains(begin))
            m_last = stepAt(m_steps, begin);
        if (m_last < 0)
            return;
        Total& total = m_totals[name.value];
        total.time += time;
        total.us.resize(m_steps.size());
        total.count.resize(m_steps.size());
        total.us[static_cast<std::size_t>(m_last)] += static_cast<float>(toUs(time));
        ++total.count[static_cast<std::size_t>(m_last)];
    }

    std::vector<WorkTotal> take()
    {
        std::vector<std::pair<Nanoseconds, std::uint32_t>> order;
        for (const auto& [name, total] : m_totals)
            order.emplace_back(total.time, name);
        const std::size_t most = std::min(order.size(), RankDigest::kMostNames);
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                          std::greater());
        std::vector<WorkTotal> found;
        for (std::size_t i = 0; i < most; ++i) {
            Total& total = m_totals[order[i].second];
            found.push_back(
                {std::string(m_trace.string(StringId{order[i].second})), std::move(total.us), std::move(total.count)});
        }
        return found;
    }

private:
    struct Total {
        Nanoseconds time{};
        std::vector<float> us;
        std::vector<std::uint32_t> count;
    };
    const Trace& m_trace;
    const std::vector<RankStep>& m_steps;
    std::int32_t m_last = -1;
    std::unordered_map<std::uint32_t, Total> m_totals;
};

std::vector<WorkTotal> kernelTotals(const Trace& trace, const std::vector<RankStep>& steps)
{
    WorkTotals totals(trace, steps);
    NameAnswers isComm(trace, [](std::string_view name) { return isCommunication(name); });
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                if (!isComm(kernel.nameId()))
                    totals.add(kernel.nameId(), kernel.begin(), kernel.duration());
            });
    return totals.take();
}

void readCounters(const Trace& trace, RankDigest& digest)
{
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Counter)
            continue;
        if (track.name.ends_with(throttle::kCounter)) {
            double slowed = 0, all = 0;
            for (const CounterSample& sample : trace.counter(track.id)) {
                slowed += throttle::text(static_cast<std::uint64_t>(std::max(sample.value, 0.0))).empty() ? 0 : 1;
                ++all;
            }
            digest.throttled = std::max(digest.throttled, all > 0 ? slowed / all : 0);
        } else if (track.unit == "MHz" && track.name.ends_with(" clock") && !track.name.ends_with("memory clock")) {
            double sum = 0, all = 0;
            for (const CounterSample& sample : trace.counter(track.id)) {
                sum += sample.value;
                ++all;
            }
            digest.clockMhz = all > 0 ? sum / all : 0;
        }
    }
}

/// From the rank's clock to CLOCK_REALTIME.
std::optional<Nanoseconds> realtimeOffset(const Trace& trace)
{
    // Times before 2001 are not times since 1970.
    constexpr std::int64_t kAbsolute = 1'000'000'000'000'000'000;
    for (const std::string_view key : {"clock.realtime_minus_monotonic_ns", "start.utc_ns"})
        if (const auto offset = parseNumber<std::int64_t>(metadataOf(trace, key)))
            return Nanoseconds{*offset};
    if (toNs(trace.range().begin) >= kAbsolute)
        return Nanoseconds{0};
    const auto base = parseNumber<std::int64_t>(metadataOf(trace, "pytorch.baseTimeNanoseconds"));
    return base && *base >= kAbsolute ? std::optional(Nanoseconds{*base}) : std::nullopt;
}

/// Assigns each call its step, and the part of it that no compute hides.
void placeCalls(RankDigest& digest, const Intervals& computing)
{
    for (CollectiveCall& call : digest.communication.calls) {
        call.step = stepAt(digest.steps, call.launched);
        call.exposed = call.range.duration();
        for (const TimeRange& range : overlapping(computing, call.range))
            call.exposed -= range.clippedTo(call.range).duration();
    }
}

/// The point-to-point calls of a step.
struct PointToPoint {
    std::vector<TimeRange> ranges;
    const CollectiveCall *first = nullptr, *last = nullptr;
};

/// From the first to the last micro-batch of a stage: the first stage begins with work that it then sends, others
/// receive first. The last thing that a stage does for its last micro-batch is to send a gradient, or, on the first
/// stage, to compute after it has received one.
TimeRange microBatches(const PointToPoint& calls, const Intervals& work, const TimeRange& step)
{
    const TraceTime from = calls.first->sendsOnly ? step.begin : calls.first->range.end;
    const std::span<const TimeRange> after = overlapping(work, {from, step.end});
    const TraceTime begin = after.empty() ? step.end : std::max(after.front().begin, from);
    const TraceTime end = calls.last->sendsOnly ? calls.last->range.begin : calls.last->range.end;
    return {begin, std::max(begin, std::min(end, step.end))};
}

void findBubbles(RankDigest& digest, const PartSets& sets)
{
    std::vector<PointToPoint> steps(digest.steps.size());
    std::vector<TimeRange> others; // collectives of other groups belong to the work on a micro-batch
    for (const CollectiveCall& call : digest.communication.calls) {
        if (call.kind != CollectiveKind::SendRecv) {
            others.push_back(call.range);
        } else if (call.step >= 0) {
            PointToPoint& calls = steps[static_cast<std::size_t>(call.step)];
            calls.ranges.push_back(call.range);
            if (!calls.first || call.range.begin < calls.first->range.begin)
                calls.first = &call;
            if (!calls.last || call.range.end > calls.last->range.end)
                calls.last = &call;
        }
    }
    if (std::ranges::all_of(steps, [](const PointToPoint& calls) { return calls.first == nullptr; }))
        return;
    const Intervals& computing = sets.of[static_cast<std::size_t>(RankTimePart::Compute)];
    const Intervals work = unite(unite(Intervals(computing), unite(std::move(others))),
                                 Intervals(sets.of[static_cast<std::size_t>(RankTimePart::Copy)]));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!steps[i].first)
            continue;
        const TimeRange window = microBatches(steps[i], computing, digest.steps[i].range);
        const Intervals waiting = intersect(unite(std::move(steps[i].ranges)), std::span(&window, 1));
        digest.steps[i].bubble = total(subtract(waiting, work));
    }
}

std::vector<RankStep> rankSteps(const Trace& trace, const std::vector<Step>& steps)
{
    std::vector<RankStep> found;
    for (const Step& step : steps)
        found.push_back({.index = step.index, .range = step.range, .steady = isSteady(step)});
    // Without a steady step, the complete ones are all there is.
    if (std::ranges::none_of(found, &RankStep::steady))
        for (std::size_t i = 0; i < found.size(); ++i)
            found[i].steady = !steps[i].partial;
    if (found.empty())
        found.push_back({.index = 0, .range = trace.range(), .steady = true});
    return found;
}

} // namespace

RankDigest rankDigest(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps)
{
    RankDigest digest;
    const auto offset = realtimeOffset(trace);
    digest.toRealtime = offset.value_or(Nanoseconds{0});
    digest.hasRealtime = offset.has_value();
    digest.range = trace.range();
    digest.events = trace.sliceCount();
    digest.hasSteps = !steps.empty();
    digest.inferred = areInferred(steps);
    digest.steps = rankSteps(trace, steps);
    digest.usesDevice = scan.of(ActivityKind::Kernel).count > 0;
    for (const ActivityKind kind : {ActivityKind::UserAnnotation, ActivityKind::CpuOp, ActivityKind::Phase})
        digest.replicates = digest.replicates || !ofKindNamed(trace, kind, isDataParallel).empty();
    for (const Device& device : trace.devices())
        if (digest.device.empty() && scan.devices.contains(device.id))
            digest.device = device.name;
    digest.communication = collectivesOf(trace);
    PartSets sets = deviceParts(scan);
    sets.at(RankTimePart::DataWait) = scan.host.dataWaits;
    sets.at(RankTimePart::GarbageCollection) = garbageCollection(trace);
    if (digest.usesDevice) {
        digest.work = kernelTotals(trace, digest.steps);
    } else {
        HostWork host(trace);
        WorkTotals totals(trace, digest.steps);
        for (const HostWork::Piece& piece : host.pieces())
            totals.add(piece.name, piece.begin, piece.self);
        digest.work = totals.take();
        // Operators of a loader without workers, and those that a garbage collection interrupts, are not compute.
        sets.at(RankTimePart::Compute) = subtract(subtract(host.computing(), sets.at(RankTimePart::DataWait)),
                                                  sets.at(RankTimePart::GarbageCollection));
        std::vector<TimeRange> ranges;
        for (const CollectiveCall& call : digest.communication.calls)
            ranges.push_back(call.range);
        sets.at(RankTimePart::Communication) = unite(std::move(ranges));
    }
    placeCalls(digest, sets.at(RankTimePart::Compute));
    findBubbles(digest, sets);
    divideSteps(sets, digest.steps);
    double busyUs = 0, spanUs = 0;
    if (digest.usesDevice)
        for (const DeviceUse& device : deviceUse(trace, scan)) {
            busyUs += toUs(device.busyAny);
            spanUs += toUs(device.span);
        }
    else
        for (const RankStep& step : digest.steps) {
            busyUs += toUs(step.part(RankTimePart::Compute));
            spanUs += toUs(step.range.duration());
        }
    digest.busy = spanUs > 0 ? busyUs / spanUs : 0;
    readCounters(trace, digest);
    return digest;
}

namespace {

/// The number after "rank" in a file name: "rank3.json", "trace_rank-12.json", "rank_0_trace.json".
std::optional<std::int64_t> rankInName(std::string_view name)
{
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (std::size_t at = lower.find("rank"); at != lower.npos; at = lower.find("rank", at + 1)) {
        const std::size_t digits = lower.find_first_not_of("_-.=", at + 4);
        std::int64_t number = 0;
        if (digits != lower.npos && std::isdigit(static_cast<unsigned char>(lower[digits])) != 0 &&
            std::from_chars(lower.data() + digits, lower.data() + lower.size(), number).ec == std::errc{})
            return number;
    }
    return std::nullopt;
}

/// "HOST" of "HOST_PID.TIME.pt.trace.json".
std::string hostInName(std::string_view name)
{
    const auto end = name.find(".pt.trace.json");
    if (end == name.npos)
        return {};
    const auto dot = name.rfind('.', end - (end > 0 ? 1 : 0));
    const auto isNumber = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    };
    if (dot == name.npos || dot >= end || !isNumber(name.substr(dot + 1, end - dot - 1)))
        return {};
    const std::string_view worker = name.substr(0, dot);
    const auto line = worker.rfind('_');
    return line != worker.npos && isNumber(worker.substr(line + 1)) ? std::string(worker.substr(0, line))
                                                                    : std::string();
}

} // namespace

RankIdentity identityOf(const Trace& trace, std::string_view fileName)
{
    RankIdentity identity;
    identity.rank = parseNumber<std::int64_t>(metadataOf(trace, "rank"));
    if (identity.rank && *identity.rank < 0)
        identity.rank.reset();
    for (const std::string_view key : {"world_size", "ranks"}) // "ranks": our trainer
        if (const auto size = parseNumber<std::int64_t>(metadataOf(trace, key)); size && identity.worldSize == 0)
            identity.worldSize = *size;
    if (!identity.rank) {
        identity.rank = rankInName(fileName);
        identity.fromName = identity.rank.has_value();
    }
    for (const std::string_view key : {"host.name", "pytorch.hostname", "pytorch.host_name", "pytorch.host"})
        if (identity.host.empty())
            identity.host = metadataOf(trace, key);
    if (identity.host.empty())
        identity.host = hostInName(fileName);
    identity.job = metadataOf(trace, "job.id");
    identity.chosen = metadataOf(trace, "record.ranks");
    return identity;
}

} // namespace profiler::analysis
