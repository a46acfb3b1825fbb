#include "advisor/evidence/source_lines.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/evidence/source_samples.h"
#include "profiler/analysis/device/launched_work.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>

namespace advisor {
namespace {

using namespace profiler;
using Place = SourceSamples::Place;
using Sample = SourceSamples::Sample;

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
    const std::optional<SourceSamples> read = readSourceSamples(document);
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
        const TraceTime end = read->rangeOf(i).end;
        const double us = analysis::toUs(end - sample.time);
        double deviceUs = 0;
        for (; next != work.end() && next->first < end; ++next)
            deviceUs += next->first >= sample.time ? analysis::toUs(next->second) : 0;
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

} // namespace advisor
