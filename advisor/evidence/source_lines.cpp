#include "advisor/evidence/source_lines.h"

#include "advisor/evidence/run_facts.h"
#include "profiler/analysis/call_tree/call_tree.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

/// The document `lines` of a trace's metadata: the call stacks that the hooks sampled.
struct SourceSamples {
    struct Place {
        std::size_t file = 0;
        int line = 0; ///< 0: damaged
        std::string function;
        int loopBegin = 0, loopEnd = 0;
    };
    struct Sample {
        profiler::TraceTime time{};
        int stack = -1;            ///< −1: outside of the user's files
        LineAllocations allocated; ///< since the previous sample
    };

    std::vector<std::string> files;
    std::vector<Place> places;
    std::vector<std::vector<std::size_t>> stacks;               ///< places, innermost first
    std::vector<Sample> samples;                                ///< by time
    std::vector<std::pair<std::size_t, LineAllocations>> exact; ///< by place
    AllocationSource allocations = AllocationSource::NotRecorded;
    double intervalUs = 0, costUs = 0;

    /// The time that a sample stands for: until the next one, but not times in which the sampling thread could not run.
    [[nodiscard]] profiler::TimeRange rangeOf(std::size_t sample) const;
    /// The stack of a sample; null if there is none.
    [[nodiscard]] const std::vector<std::size_t>* stackOf(std::size_t sample) const;
};
using Place = SourceSamples::Place;
using Sample = SourceSamples::Sample;

using Json = nlohmann::json;

// More than the hooks write, which is at most 80,000 samples and 20,000 stacks of 12 frames.
constexpr std::size_t kMostBytes = 16u << 20;
constexpr int kMostDepth = 6;
constexpr double kMostIntervals = 8; ///< that a sample stands for

const Json& list(const Json& json, const char* key)
{
    static const Json s_empty = Json::array();
    const auto entry = json.find(key);
    return entry != json.end() && entry->is_array() ? *entry : s_empty;
}

/// An integer from 0 to `most`; no value for anything else.
std::optional<std::int64_t> whole(const Json& value, std::int64_t most)
{
    if (!value.is_number_integer())
        return std::nullopt;
    const auto number = value.get<std::int64_t>();
    return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

std::vector<Place> placesOf(const Json& json, std::size_t files)
{
    std::vector<Place> places;
    for (const Json& entry : list(json, "places")) {
        Place place;
        if (entry.is_array() && entry.size() == 3 && entry[2].is_string()) {
            const auto file = whole(entry[0], static_cast<std::int64_t>(files) - 1);
            const auto line = whole(entry[1], 100'000'000);
            if (file && line)
                place = {static_cast<std::size_t>(*file), static_cast<int>(*line), entry[2].get<std::string>(), 0, 0};
        }
        places.push_back(std::move(place)); // keeps the indices of places valid; places without a line are dropped
                                            // later
    }
    return places;
}

/// Reads the loops of places, if they are known. Damaged ones are ignored.
void readLoops(const Json& json, std::vector<Place>& places)
{
    const Json& loops = list(json, "loops");
    for (std::size_t i = 0; i < std::min(loops.size(), places.size()); ++i) {
        if (!loops[i].is_array() || loops[i].size() != 2)
            continue;
        const auto first = whole(loops[i][0], places[i].line), last = whole(loops[i][1], 100'000'000);
        if (first && last && *first > 0 && *last >= places[i].line) {
            places[i].loopBegin = static_cast<int>(*first);
            places[i].loopEnd = static_cast<int>(*last);
        }
    }
}

/// No value for anything but two numbers of plausible size.
std::optional<LineAllocations> allocationsAt(const Json& numbers, std::size_t at)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 53; // beyond 2^53, JSON numbers are not exact
    const auto bytes = whole(numbers[at], kMost), count = whole(numbers[at + 1], kMost);
    return bytes && count ? std::optional(LineAllocations{*bytes, *count}) : std::nullopt;
}

/// Reads the allocations of lines, if they were recorded.
/// @return false if it is damaged
bool readAllocations(const Json& json, SourceSamples& into)
{
    if (json.contains("exact")) {
        const Json& exact = list(json, "exact");
        if (!json["exact"].is_array() || exact.size() % 3 != 0)
            return false;
        for (std::size_t i = 0; i < exact.size(); i += 3) {
            const auto place = whole(exact[i], static_cast<std::int64_t>(into.places.size()) - 1);
            const auto allocated = allocationsAt(exact, i + 1);
            if (!place || !allocated)
                return false;
            into.exact.emplace_back(static_cast<std::size_t>(*place), *allocated);
        }
        into.allocations = AllocationSource::Exact;
    } else if (json.contains("allocated")) {
        const Json& allocated = list(json, "allocated");
        if (allocated.size() != 2 * into.samples.size())
            return false;
        for (std::size_t i = 0; i < into.samples.size(); ++i) {
            const auto found = allocationsAt(allocated, 2 * i);
            if (!found)
                return false;
            into.samples[i].allocated = *found;
        }
        into.allocations = AllocationSource::Sampled;
    }
    return true;
}

/// No value if the document is damaged.
std::optional<SourceSamples> readSourceSamples(std::string_view document)
{
    if (document.size() > kMostBytes)
        return std::nullopt;
    bool tooDeep = false;
    const auto keep = [&](int depth, Json::parse_event_t, Json&) {
        tooDeep = tooDeep || depth > kMostDepth;
        return depth <= kMostDepth;
    };
    const Json json = Json::parse(document.begin(), document.end(), keep, false);
    if (json.is_discarded() || !json.is_object() || tooDeep)
        return std::nullopt;
    SourceSamples found;
    for (const Json& file : list(json, "files"))
        found.files.push_back(file.is_string() ? file.get<std::string>() : std::string());
    found.places = placesOf(json, found.files.size());
    readLoops(json, found.places);
    for (const Json& entry : list(json, "stacks")) {
        std::vector<std::size_t> stack;
        if (entry.is_array())
            for (const Json& number : entry)
                if (const auto place = whole(number, static_cast<std::int64_t>(found.places.size()) - 1))
                    stack.push_back(static_cast<std::size_t>(*place));
        found.stacks.push_back(std::move(stack));
    }
    const auto begin = json.contains("begin_ns") ? whole(json["begin_ns"], INT64_MAX / 2) : std::nullopt;
    const Json& samples = list(json, "samples");
    if (!begin || samples.size() < 4)
        return std::nullopt;
    std::int64_t at = *begin;
    for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
        const auto elapsed = whole(samples[i + 1], std::int64_t{1} << 40);
        if (!samples[i].is_number_integer() || !elapsed)
            return std::nullopt;
        at = std::min(at + *elapsed * 1000, INT64_MAX / 2);
        const auto stack = whole(samples[i], static_cast<std::int64_t>(found.stacks.size()) - 1);
        found.samples.push_back({traceTime(at), stack ? static_cast<int>(*stack) : -1, {}});
    }
    if (!readAllocations(json, found))
        return std::nullopt;
    const auto number = [&](const char* key) {
        const auto entry = json.find(key);
        return entry != json.end() && entry->is_number() ? std::max(0.0, entry->get<double>()) : 0.0;
    };
    found.intervalUs = number("interval_us");
    found.costUs = number("cost_us");
    return found;
}

TimeRange SourceSamples::rangeOf(std::size_t sample) const
{
    const TraceTime begin = samples[sample].time;
    const auto intervals = [&](double count) {
        return Nanoseconds(static_cast<std::int64_t>(std::max(intervalUs, 1.0) * 1000 * count));
    };
    return {begin, sample + 1 == samples.size()
                       ? begin + intervals(1)
                       : std::min(samples[sample + 1].time, begin + intervals(kMostIntervals))};
}

const std::vector<std::size_t>* SourceSamples::stackOf(std::size_t sample) const
{
    const int stack = samples[sample].stack;
    return stack < 0 ? nullptr : &stacks[static_cast<std::size_t>(stack)];
}

/// The track of the sampled thread: the one with the steps, else the one with the phases.
std::optional<TrackId> sampledTrack(const Trace& trace)
{
    std::optional<TrackId> track;
    for (const ActivityKind kind : {ActivityKind::Phase, ActivityKind::Step})
        if (const auto slices = trace.ofKind(kind); !slices.empty())
            track = slices.front().id.track;
    return track;
}

void add(std::optional<LineAllocations>& to, const LineAllocations& more)
{
    to = to.value_or(LineAllocations());
    constexpr std::int64_t kMost = INT64_MAX / 2;
    to->bytes = std::min(to->bytes + more.bytes, kMost);
    to->count = std::min(to->count + more.count, kMost);
}

/// Times in which a host thread waits: for its loader, or for the device.
analysis::Intervals waits(const Trace& trace)
{
    analysis::UnionBuilder found;
    for (const Slice& phase : trace.ofKind(ActivityKind::Phase))
        if (trace.name(phase) == phase::kDataWait)
            found.add(phase.range());
    for (const Slice& sync : trace.ofKind(ActivityKind::Sync))
        found.add(sync.range());
    return found.take();
}

/// Launch time and duration of device work, sorted by launch time.
std::vector<std::pair<TraceTime, Nanoseconds>> launches(const Trace& trace)
{
    std::vector<std::pair<TraceTime, Nanoseconds>> found;
    const analysis::LaunchCalls calls(trace);
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : trace.ofKind(kind)) {
            const analysis::LaunchCall* call = calls.find(work.correlation.value);
            found.emplace_back(call ? call->range.begin : work.begin, work.duration);
        }
    std::ranges::sort(found);
    return found;
}

constexpr std::string_view kOutside = "outside of the program's files";

struct Launched {
    TraceTime at;
    Slice work;
};

/// Device work with its launches, by the time of the launch.
std::vector<Launched> launchedWork(const Trace& trace, const std::stop_token& stop)
{
    std::vector<Launched> found;
    const LaunchCalls calls(trace);
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : trace.ofKind(kind)) {
            if (stop.stop_requested())
                return {};
            const LaunchCall* call = calls.find(work.correlation.value);
            found.push_back({call ? call->range.begin : work.begin, work});
        }
    std::ranges::stable_sort(found, {}, &Launched::at);
    return found;
}

/// Numbers of names in the tree: places, then the two names below, then strings of the trace.
class SampledTree {
public:
    SampledTree(const Trace& trace, const SourceSamples& samples) : m_trace(trace), m_samples(samples) {}

    /// The node of the innermost user line of a sample.
    std::uint32_t nodeOf(std::size_t sample)
    {
        const auto* stack = m_samples.stackOf(sample);
        std::uint32_t node = 0;
        if (stack)
            for (auto place = stack->rbegin(); place != stack->rend(); ++place)
                if (m_samples.places[*place].line != 0)
                    node = m_tree.child(node, static_cast<std::uint32_t>(*place), ActivityKind::Other);
        return node == 0 ? m_tree.child(0, outside(), ActivityKind::Other) : node;
    }
    std::uint32_t notSampled() { return m_tree.child(0, outside() + 1, ActivityKind::Other); }
    void addHost(std::uint32_t node, Nanoseconds time) { m_tree[node].self += time.count(); }
    void addWork(std::uint32_t node, const Slice& work)
    {
        PathTree::Node& leaf = m_tree[m_tree.child(node, outside() + 2 + work.name.value, work.kind)];
        leaf.self += work.duration.count();
        ++leaf.calls;
        leaf.note(work.duration.count(), work.id);
    }

    [[nodiscard]] CallTree finish() const
    {
        return m_tree.finish(
            [this](std::uint32_t name) {
                if (name >= outside())
                    return std::string(name == outside()       ? kOutside
                                       : name == outside() + 1 ? kLaunchNotRecorded
                                                               : m_trace.string(StringId{name - outside() - 2}));
                const SourceSamples::Place& place = m_samples.places[name];
                return m_samples.files[place.file] + '(' + std::to_string(place.line) + "): " + place.function;
            },
            false);
    }

private:
    [[nodiscard]] std::uint32_t outside() const { return static_cast<std::uint32_t>(m_samples.places.size()); }

    const Trace& m_trace;
    const SourceSamples& m_samples;
    PathTree m_tree;
};

Nanoseconds timeWithin(const TimeRange& range, const Intervals& window)
{
    Nanoseconds sum{};
    for (const TimeRange& part : overlapping(window, range))
        sum += part.clippedTo(range).duration();
    return sum;
}

CallTree sampledTree(const Trace& trace, const SourceSamples& samples, const CallTreeOptions& options,
                     const std::stop_token& stop)
{
    SampledTree tree(trace, samples);
    const CallScope& scope = options.scope;
    const auto track = sampledTrack(trace);
    const bool isInScope = scope.tracks.empty() || !track || std::ranges::binary_search(scope.tracks, *track);
    if (options.time == CallTime::Host) {
        for (std::size_t i = 0; i < samples.samples.size() && isInScope && !stop.stop_requested(); ++i) {
            const TimeRange range = samples.rangeOf(i);
            const Nanoseconds time = scope.window.empty() ? range.duration() : timeWithin(range, scope.window);
            if (time.count() > 0)
                tree.addHost(tree.nodeOf(i), time);
        }
    } else {
        std::size_t next = 0; // the first sample after a launch
        for (const Launched& launched : launchedWork(trace, stop)) {
            if (stop.stop_requested())
                break;
            if (!scope.window.empty() && !beginsWithin(launched.at, scope.window))
                continue;
            while (next < samples.samples.size() && samples.samples[next].time <= launched.at)
                ++next;
            const bool isSampled = next > 0 && launched.at < samples.rangeOf(next - 1).end;
            tree.addWork(isSampled ? tree.nodeOf(next - 1) : tree.notSampled(), launched.work);
        }
    }
    CallTree finished = tree.finish();
    finished.steps = scope.steps;
    finished.sampledEvery = Nanoseconds(static_cast<std::int64_t>(samples.intervalUs * 1000));
    return finished;
}

} // namespace

SourceLines sourceLines(const Trace& trace, const Intervals* within)
{
    SourceLines result;
    const std::string_view document = metadata(trace, "lines");
    if (document.empty()) {
        result.problem = message<"lines.not_recorded",
                                 "The trace contains no source lines. Record a Python program that trains with an "
                                 "optimizer for at least some milliseconds (stepscope-cli record -- python …).">();
        return result;
    }
    const std::optional<SourceSamples> read = readSourceSamples(document);
    if (!read) {
        result.problem = message<"lines.unreadable", "The trace's source lines are damaged.">();
        return result;
    }
    const analysis::Intervals waiting = waits(trace);
    const auto work = within ? std::vector<std::pair<TraceTime, Nanoseconds>>() : launches(trace);
    std::vector<SourceLine> byPlace(read->places.size());
    auto next = work.begin();
    for (std::size_t i = 0; i < read->samples.size(); ++i) {
        const Sample& sample = read->samples[i];
        const TimeRange range = read->rangeOf(i);
        const TraceTime end = range.end;
        const double us = analysis::toUs(within ? timeWithin(range, *within) : range.duration());
        double deviceUs = 0;
        for (; next != work.end() && next->first < end; ++next)
            deviceUs += next->first >= sample.time ? analysis::toUs(next->second) : 0;
        if (within && us == 0)
            continue;
        ++result.samples;
        result.sampledUs += us;
        const auto* stack = read->stackOf(i);
        if (!stack || stack->empty()) {
            result.outsideUs += us;
            continue;
        }
        SourceLine& innermost = byPlace[stack->front()];
        ++innermost.samples;
        innermost.selfUs += us;
        if (!analysis::overlapping(waiting, {sample.time, sample.time + Nanoseconds(1)}).empty())
            innermost.waitUs += us;
        if (!work.empty())
            innermost.deviceUs = innermost.deviceUs.value_or(0) + deviceUs;
        if (read->allocations == AllocationSource::Sampled)
            add(innermost.allocations, sample.allocated);
        for (std::size_t frame = 0; frame < stack->size(); ++frame)
            if (std::find(stack->begin(), stack->begin() + static_cast<std::ptrdiff_t>(frame), (*stack)[frame]) ==
                stack->begin() + static_cast<std::ptrdiff_t>(frame)) // count a recursive function once
                byPlace[(*stack)[frame]].totalUs += us;
    }
    for (const auto& [place, allocated] : read->exact)
        add(byPlace[place].allocations, allocated);
    for (std::size_t i = 0; i < byPlace.size(); ++i) {
        const Place& place = read->places[i];
        // A line that allocated need not have been sampled.
        if ((byPlace[i].totalUs == 0 && !byPlace[i].allocations) || place.line == 0)
            continue;
        byPlace[i].file = read->files[place.file];
        byPlace[i].line = place.line;
        byPlace[i].function = place.function;
        byPlace[i].loopBegin = place.loopBegin;
        byPlace[i].loopEnd = place.loopEnd;
        if (!work.empty() && !byPlace[i].deviceUs)
            byPlace[i].deviceUs = 0;
        if (read->allocations != AllocationSource::NotRecorded)
            add(byPlace[i].allocations, {});
        result.lines.push_back(byPlace[i]);
    }
    std::ranges::stable_sort(result.lines, std::ranges::greater(), &SourceLine::totalUs);
    result.intervalUs = read->intervalUs;
    result.costUs = read->costUs;
    result.allocations = read->allocations;
    return result;
}

struct SourceTimes::Data {
    SourceSamples samples;
    std::optional<TrackId> thread;                             ///< the sampled one
    std::vector<std::pair<std::uint64_t, TraceTime>> launches; ///< by correlation id, sorted

    [[nodiscard]] const std::vector<std::size_t>* stackAt(TraceTime time) const
    {
        const auto next = std::ranges::upper_bound(samples.samples, time, {}, &Sample::time);
        if (next == samples.samples.begin())
            return nullptr;
        const auto index = static_cast<std::size_t>(next - samples.samples.begin()) - 1;
        return samples.rangeOf(index).end <= time ? nullptr : samples.stackOf(index);
    }
};

SourceTimes::SourceTimes(const Trace& trace)
{
    auto data = std::make_unique<Data>();
    if (auto samples = readSourceSamples(metadata(trace, "lines")))
        data->samples = std::move(*samples);
    data->thread = sampledTrack(trace);
    const analysis::LaunchCalls calls(trace);
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : trace.ofKind(kind))
            if (const analysis::LaunchCall* call = calls.find(work.correlation.value))
                data->launches.emplace_back(work.correlation.value, call->range.begin);
    std::ranges::sort(data->launches);
    m = std::move(data);
}

SourceTimes::~SourceTimes() = default;

std::vector<TimeRange> SourceTimes::rangesOf(std::string_view file, int line) const
{
    const SourceSamples& all = m->samples;
    std::vector<bool> isPlace(all.places.size()), isStack(all.stacks.size());
    for (std::size_t i = 0; i < all.places.size(); ++i)
        isPlace[i] = all.places[i].line == line && line != 0 && all.files[all.places[i].file] == file;
    for (std::size_t i = 0; i < all.stacks.size(); ++i)
        isStack[i] = std::ranges::any_of(all.stacks[i], [&](std::size_t place) { return isPlace[place]; });
    std::vector<TimeRange> ranges;
    for (std::size_t i = 0; i < all.samples.size(); ++i) {
        if (all.samples[i].stack < 0 || !isStack[static_cast<std::size_t>(all.samples[i].stack)])
            continue;
        const TimeRange range = all.rangeOf(i);
        if (!ranges.empty() && ranges.back().end == range.begin)
            ranges.back().end = range.end;
        else
            ranges.push_back(range);
    }
    return ranges;
}

std::optional<SourcePlace> SourceTimes::placeOf(const Slice& slice) const
{
    TraceTime time = slice.begin;
    const auto launch =
        std::ranges::lower_bound(m->launches, slice.correlation.value, {}, &std::pair<std::uint64_t, TraceTime>::first);
    const bool isLaunched = slice.kind == ActivityKind::Kernel || slice.kind == ActivityKind::GpuMemcpy ||
                            slice.kind == ActivityKind::GpuMemset;
    if (isLaunched) {
        if (launch == m->launches.end() || launch->first != slice.correlation.value)
            return std::nullopt;
        time = launch->second;
    } else if (!m->thread || slice.id.track != *m->thread) {
        return std::nullopt;
    }
    const auto* stack = m->stackAt(time);
    if (!stack || stack->empty() || m->samples.places[stack->front()].line == 0)
        return std::nullopt;
    const Place& place = m->samples.places[stack->front()];
    return SourcePlace{.file = m->samples.files[place.file],
                       .line = place.line,
                       .endLine = place.line,
                       .function = place.function,
                       .what = {}};
}

bool hasCallsOrSamples(const Trace& trace, CallGrouping grouping)
{
    return profiler::analysis::hasCalls(trace, grouping) ||
           (grouping == CallGrouping::Python && !metadata(trace, "lines").empty());
}

CallTree callsOrSamples(const Trace& trace, const CallTreeOptions& options, const std::stop_token& stop)
{
    if (options.by == CallGrouping::Python && !profiler::analysis::hasCalls(trace, options.by))
        if (const auto samples = readSourceSamples(metadata(trace, "lines")))
            return sampledTree(trace, *samples, options, stop);
    return profiler::analysis::callTree(trace, options, stop);
}

} // namespace advisor
