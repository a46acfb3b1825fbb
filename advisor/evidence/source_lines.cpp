#include "advisor/evidence/source_lines.h"

#include "advisor/evidence/run_facts.h"
#include "profiler/analysis/device/launched_work.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace advisor {
namespace {

using namespace profiler;
using Json = nlohmann::json;

// More than the hooks write, which is at most 80,000 samples and 20,000 stacks of 12 frames.
constexpr std::size_t kMostBytes = 16u << 20;
constexpr int kMostDepth = 6;
// A sample counts for the time until the next one, but not for times in which the sampling thread could not run.
constexpr double kMostIntervals = 8;

struct Place {
    std::size_t file = 0;
    int line = 0;
    std::string function;
};

struct Sample {
    TraceTime time{};
    int stack = -1;
    LineAllocations allocated; ///< since the previous sample
};

struct Samples {
    std::vector<std::string> files;
    std::vector<Place> places;
    std::vector<std::vector<std::size_t>> stacks;
    std::vector<Sample> samples;
    std::vector<std::pair<std::size_t, LineAllocations>> exact; ///< by place
    AllocationSource allocations = AllocationSource::NotRecorded;
    double intervalUs = 0, costUs = 0;
};

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
                place = {static_cast<std::size_t>(*file), static_cast<int>(*line), entry[2].get<std::string>()};
        }
        places.push_back(std::move(place)); // keeps the indices of places valid; places without a line are dropped
                                            // later
    }
    return places;
}

/// No value for anything but two numbers of plausible size.
std::optional<LineAllocations> allocationsAt(const Json& numbers, std::size_t at)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 53; // beyond 2^53, JSON numbers are not exact
    const auto bytes = whole(numbers[at], kMost), count = whole(numbers[at + 1], kMost);
    return bytes && count ? std::optional(LineAllocations{*bytes, *count}) : std::nullopt;
}

/// What lines allocated, if it was recorded.
/// @return false if it is damaged
bool readAllocations(const Json& json, Samples& into)
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

void add(std::optional<LineAllocations>& to, const LineAllocations& more)
{
    to = to.value_or(LineAllocations());
    constexpr std::int64_t kMost = INT64_MAX / 2;
    to->bytes = std::min(to->bytes + more.bytes, kMost);
    to->count = std::min(to->count + more.count, kMost);
}

std::optional<Samples> read(std::string_view document)
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
    Samples found;
    for (const Json& file : list(json, "files"))
        found.files.push_back(file.is_string() ? file.get<std::string>() : std::string());
    found.places = placesOf(json, found.files.size());
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

} // namespace

SourceLines sourceLines(const Trace& trace)
{
    SourceLines result;
    const std::string_view document = metadata(trace, "lines");
    if (document.empty()) {
        result.problem = message<"lines.not_recorded",
                                 "The trace contains no source lines. Record a Python program that trains with an "
                                 "optimizer for at least some milliseconds (stepscope-cli record -- python …).">();
        return result;
    }
    const std::optional<Samples> read = advisor::read(document);
    if (!read) {
        result.problem = message<"lines.unreadable", "The trace's source lines are damaged.">();
        return result;
    }
    const analysis::Intervals waiting = waits(trace);
    const auto work = launches(trace);
    std::vector<SourceLine> byPlace(read->places.size());
    auto next = work.begin();
    for (std::size_t i = 0; i < read->samples.size(); ++i) {
        const Sample& sample = read->samples[i];
        const bool last = i + 1 == read->samples.size();
        const double usual = std::max(read->intervalUs, 1.0);
        const double elapsed = last ? usual : analysis::toUs(read->samples[i + 1].time - sample.time);
        const double us = std::min(elapsed, usual * kMostIntervals);
        const TraceTime end = sample.time + Nanoseconds(static_cast<std::int64_t>(us * 1000));
        double deviceUs = 0;
        for (; next != work.end() && next->first < end; ++next)
            deviceUs += next->first >= sample.time ? analysis::toUs(next->second) : 0;
        result.sampledUs += us;
        const auto* stack = sample.stack >= 0 ? &read->stacks[static_cast<std::size_t>(sample.stack)] : nullptr;
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
        if (!work.empty() && !byPlace[i].deviceUs)
            byPlace[i].deviceUs = 0;
        if (read->allocations != AllocationSource::NotRecorded)
            add(byPlace[i].allocations, {});
        result.lines.push_back(byPlace[i]);
    }
    std::ranges::stable_sort(result.lines, std::ranges::greater(), &SourceLine::totalUs);
    result.samples = static_cast<std::int64_t>(read->samples.size());
    result.intervalUs = read->intervalUs;
    result.costUs = read->costUs;
    result.allocations = read->allocations;
    return result;
}

struct SourceTimes::Data {
    Samples samples;
    std::optional<TrackId> thread; ///< the training thread: the one with the steps, else the one with the phases
    std::vector<std::pair<std::uint64_t, TraceTime>> launches; ///< by correlation id, sorted

    [[nodiscard]] TimeRange rangeOf(std::size_t sample) const
    {
        const TraceTime begin = samples.samples[sample].time;
        const Nanoseconds usual(static_cast<std::int64_t>(std::max(samples.intervalUs, 1.0) * 1000));
        const bool last = sample + 1 == samples.samples.size();
        return {begin,
                last ? begin + usual
                     : std::min(samples.samples[sample + 1].time, begin + usual * static_cast<int>(kMostIntervals))};
    }
    [[nodiscard]] const std::vector<std::size_t>* stackAt(TraceTime time) const
    {
        const auto next = std::ranges::upper_bound(samples.samples, time, {}, &Sample::time);
        if (next == samples.samples.begin())
            return nullptr;
        const auto index = static_cast<std::size_t>(next - samples.samples.begin()) - 1;
        const int stack = samples.samples[index].stack;
        return stack < 0 || rangeOf(index).end <= time ? nullptr : &samples.stacks[static_cast<std::size_t>(stack)];
    }
};

SourceTimes::SourceTimes(const Trace& trace)
{
    auto data = std::make_unique<Data>();
    if (auto samples = advisor::read(metadata(trace, "lines")))
        data->samples = std::move(*samples);
    for (const ActivityKind kind : {ActivityKind::Phase, ActivityKind::Step})
        if (const auto slices = trace.ofKind(kind); !slices.empty())
            data->thread = slices.front().id.track;
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
    const Samples& all = m->samples;
    std::vector<bool> isPlace(all.places.size()), isStack(all.stacks.size());
    for (std::size_t i = 0; i < all.places.size(); ++i)
        isPlace[i] = all.places[i].line == line && line != 0 && all.files[all.places[i].file] == file;
    for (std::size_t i = 0; i < all.stacks.size(); ++i)
        isStack[i] = std::ranges::any_of(all.stacks[i], [&](std::size_t place) { return isPlace[place]; });
    std::vector<TimeRange> ranges;
    for (std::size_t i = 0; i < all.samples.size(); ++i) {
        if (all.samples[i].stack < 0 || !isStack[static_cast<std::size_t>(all.samples[i].stack)])
            continue;
        const TimeRange range = m->rangeOf(i);
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

} // namespace advisor
