#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/confidence.h"
#include "advisor/verdict.h"
#include "profiler/analysis/statistics.h"
#include "profiler/model/activity.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Maximum width of the slope's range, relative to the slope: a wider range is not steady growth. Same limit as for a
// prediction (prediction.cpp).
constexpr double kSteady = 0.5;
// The slopes of all pairs are computed, so longer runs are thinned to every second, third … step.
constexpr std::size_t kMostSteps = 400;

/// Minimum evidence of growth. Allocator counters are exact to the byte; memory samples of a process or device include
/// other programs, caches and pages that come and go.
struct Threshold {
    std::size_t steps;
    double bytes, share; ///< over the observed steps; relative to the first value
};
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr Threshold kCounted = {5, kMebibyte, 0.005}, kSampled = {20, 64 * kMebibyte, 0.02};

// A trace without steps is divided into as many parts as sampled steps are required. Chosen: 20 seconds or more contain
// several steps of most training runs; memory that grows over a shorter time may belong to a single forward pass.
constexpr std::size_t kParts = kSampled.steps;
constexpr double kLeastPartSeconds = 1;

struct Floor {
    double step = 0; ///< position among the run's steps; without steps, among the parts of the trace
    double bytes = 0;
    TraceTime at{};
};

/// Change of a counter from step to step, measured by the minimum within each step, because memory that is freed before
/// the step ends does not count. For a trace without steps, from part to part.
struct Growth {
    const Track* counter = nullptr;
    Threshold threshold{};
    std::vector<Floor> floors;
    double partSeconds = 0;            ///< length of a part; 0: the trace has steps
    double low = 0, mid = 0, high = 0; ///< bytes per step or part
    double lateMid = 0;                ///< the same for the second half only

    [[nodiscard]] double steps() const { return floors.back().step - floors.front().step; }
    [[nodiscard]] bool isSteady() const
    {
        return low > 0 && mid - low <= kSteady * mid && high - mid <= kSteady * mid && lateMid >= kSteady * mid;
    }
    [[nodiscard]] bool matters() const
    {
        return low * steps() >= std::max(threshold.bytes, threshold.share * floors.front().bytes);
    }
};

bool ofAllocator(std::string_view counter)
{
    return counter.find(" memory allocated") != counter.npos;
}

/// Returns "GPU 0" for "GPU 0 memory reserved".
std::string_view ownerOf(std::string_view counter)
{
    return counter.substr(0, counter.find(" memory"));
}

bool isOfMemory(const Track& track)
{
    const auto has = [&](std::string_view word) { return track.name.find(word) != std::string::npos; };
    return track.kind == TrackKind::Counter && has("memory") && !has("peak") && !has("pool") &&
           (track.unit.empty() || track.unit == "bytes");
}

/// An allocator keeps the memory that it reserves, so if allocated memory is recorded, only that counts.
std::vector<const Track*> countersOf(const Trace& trace)
{
    std::vector<const Track*> all, found;
    for (const Track& track : trace.tracks())
        if (isOfMemory(track))
            all.push_back(&track);
    for (const Track* track : all) {
        const bool better = !ofAllocator(track->name) && std::any_of(all.begin(), all.end(), [&](const Track* other) {
            return ofAllocator(other->name) && ownerOf(other->name) == ownerOf(track->name);
        });
        if (!better)
            found.push_back(track);
    }
    return found;
}

/// Steps that should be alike; in a profile that begins in the middle of a run, the first step is one of them.
std::vector<Step> comparable(const std::vector<Step>& all)
{
    const bool midRun = !all.empty() && all.front().index > 0;
    std::vector<Step> steps;
    for (const Step& step : all)
        if (isSteady(step) || (midRun && !step.partial))
            steps.push_back(step);
    return steps;
}

/// The steps in which growth is measured, in order. Without steps: equal parts of the analysis window, which begins
/// after warm-up. Empty if the window is too short.
std::vector<TimeRange> comparableRanges(const RuleContext& c)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : comparable(c.facts.steps))
        ranges.push_back(step.range);
    if (!c.facts.steps.empty() || c.facts.device.window.empty())
        return ranges;
    const TimeRange all{c.facts.device.window.front().begin, c.facts.device.window.back().end};
    const Nanoseconds each = all.duration() / static_cast<std::int64_t>(kParts);
    if (toUs(each) < 1e6 * kLeastPartSeconds)
        return ranges;
    for (std::size_t i = 0; i < kParts; ++i) {
        const TraceTime begin = all.begin + each * static_cast<std::int64_t>(i);
        ranges.push_back({begin, begin + each});
    }
    return ranges;
}

std::vector<Floor> floorsOf(const std::vector<CounterSample>& samples, const std::vector<TimeRange>& steps)
{
    std::vector<Floor> floors;
    auto sample = samples.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        while (sample != samples.end() && sample->time < steps[i].begin)
            ++sample;
        std::optional<Floor> least;
        for (; sample != samples.end() && sample->time < steps[i].end; ++sample)
            if (!least || sample->value < least->bytes)
                least = Floor{static_cast<double>(i), sample->value, sample->time};
        if (least)
            floors.push_back(*least);
    }
    if (floors.size() <= kMostSteps)
        return floors;
    std::vector<Floor> some;
    for (std::size_t i = 0; i < kMostSteps; ++i)
        some.push_back(floors[i * (floors.size() - 1) / (kMostSteps - 1)]);
    return some;
}

std::vector<double> slopes(const std::vector<Floor>& floors, std::size_t from)
{
    std::vector<double> found;
    for (std::size_t i = from; i < floors.size(); ++i)
        for (std::size_t j = i + 1; j < floors.size(); ++j)
            found.push_back((floors[j].bytes - floors[i].bytes) / (floors[j].step - floors[i].step));
    std::sort(found.begin(), found.end());
    return found;
}

/// The median slope of all pairs and its 95 % interval. Source: P. K. Sen, Estimates of the regression coefficient
/// based on Kendall's tau, JASA 63, 1968.
void measure(Growth& growth)
{
    const std::vector<double> sorted = slopes(growth.floors, 0);
    const auto n = static_cast<double>(growth.floors.size()), pairs = static_cast<double>(sorted.size());
    const double reach = kNormalQuantile * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    const auto ranked = [&](double rank) {
        return sorted[static_cast<std::size_t>(std::clamp(std::floor(rank), 1.0, pairs)) - 1];
    };
    growth.low = ranked((pairs - reach) / 2);
    growth.mid = percentile(sorted, 0.5);
    growth.high = ranked((pairs + reach) / 2 + 1);
    growth.lateMid = percentile(slopes(growth.floors, growth.floors.size() / 2), 0.5);
}

std::string bytes(double value)
{
    return bytesText(std::llround(value));
}

double limitOf(const Trace& trace, const Growth& growth)
{
    for (const Device& device : trace.devices())
        if (growth.counter->name.starts_with(fmt::format("GPU {} ", device.id.value)))
            return static_cast<double>(device.memoryBytes);
    return 0;
}

/// For a trace without steps: the growth per second.
Message reasonOverTime(const Growth& growth)
{
    const auto rate = [&](std::string_view name, double ofPart) {
        const double each = ofPart / growth.partSeconds;
        return MessageParameter{name, each, bytes(each)};
    };
    const double seconds = growth.steps() * growth.partSeconds;
    const double first = growth.floors.front().bytes, last = growth.floors.back().bytes;
    return message<
        "memory.growth.grows_over_time",
        "{counter} grows by {growth} per second ({low} to {high}): from {first} to {last} in {time}. The trace "
        "has no steps, so this is not per step.">({{"counter", growth.counter->name},
                                                   rate("growth", growth.mid),
                                                   rate("low", growth.low),
                                                   rate("high", growth.high),
                                                   {"first", first, bytes(first)},
                                                   {"last", last, bytes(last)},
                                                   {"time", 1e6 * seconds, timeText(1e6 * seconds)}});
}

Message reasonOf(const RuleContext& c, const Growth& growth)
{
    if (growth.partSeconds > 0)
        return reasonOverTime(growth);
    const std::vector<Floor>& floors = growth.floors;
    const auto size = [](std::string_view name, double value) { return MessageParameter{name, value, bytes(value)}; };
    const MessageParameter counter{"counter", growth.counter->name},
        mid = size("growth", growth.mid), low = size("low", growth.low), high = size("high", growth.high),
        first = size("first", floors.front().bytes), last = size("last", floors.back().bytes),
        steps{"steps", growth.steps() + 1, countText(growth.steps() + 1)};
    const bool sinceBegin = growth.counter->name.ends_with(counter::kSinceBegin);
    if (const double limit = limitOf(c.trace, growth); limit > floors.back().bytes && !sinceBegin) {
        const double left = std::ceil((limit - floors.back().bytes) / growth.mid);
        return message<"memory.growth.fills",
                       "{counter} grows by {growth} per step ({low} to {high}): from {first} to {last} over {steps} "
                       "steps. At this rate, the device's {limit} are full in {left} more steps.">(
            {counter, mid, low, high, first, last, steps, size("limit", limit), {"left", left, countText(left)}});
    }
    return message<"memory.growth.grows",
                   "{counter} grows by {growth} per step ({low} to {high}): from {first} to {last} over {steps} "
                   "steps.">({counter, mid, low, high, first, last, steps});
}

Advice finding(const RuleContext& c, const Growth& growth)
{
    const std::vector<Floor>& floors = growth.floors;
    Advice advice = fires(reasonOf(c, growth));
    advice.objective = Objective::Memory;
    advice.saving = Saving{.unit = SavingUnit::Bytes,
                           .low = growth.low * growth.steps(),
                           .mid = growth.mid * growth.steps(),
                           .high = growth.high * growth.steps()};
    advice.caveats = {
        message<"memory.growth.intended", "A replay buffer or a dataset cache also grows until it is full.">(),
        message<"memory.growth.longer_run",
                "The saving is the growth over the recorded time: a longer run saves more.">()};
    advice.whyNoToggle =
        message<"memory.growth.no_setting", "No setting: the program keeps objects of every step alive.">();
    advice.evidence.push_back({.track = growth.counter->id,
                               .slice = std::nullopt,
                               .range = {floors.front().at, floors.back().at},
                               .name = growth.counter->name});
    if (growth.partSeconds > 0)
        advice.title = "Memory keeps growing";
    addSteps(advice, c);
    return advice;
}

/// Why the growth is unknown although memory was recorded.
Advice tooFewSamples(const RuleContext& c, std::size_t most)
{
    if (c.facts.steps.empty())
        return cannotTell(
            message<"memory.growth.few_samples", "Memory was recorded in only {parts} of {all} parts of the trace, "
                                                 "which has no steps: too few to show growth.">(
                {{"parts", most}, {"all", kParts}}),
            Need::Longer);
    return cannotTell(message<"memory.growth.few_steps",
                              "Steady-state steps with recorded memory: {steps}; too few to show growth ({counted} are "
                              "enough with allocator counters, {sampled} with samples).">(
                          {{"steps", most}, {"counted", kCounted.steps}, {"sampled", kSampled.steps}}),
                      Need::Longer);
}

Advice check(const RuleContext& c)
{
    const std::vector<const Track*> counters = countersOf(c.trace);
    if (counters.empty())
        return cannotTell(message<"memory.growth.not_recorded", "Memory was not recorded.">(), Need::Memory);
    const std::vector<TimeRange> steps = comparableRanges(c);
    if (c.facts.steps.empty() && steps.empty())
        return cannotTell(noStepMarks("it is unknown whether memory grows from step to step"), Need::Steps);
    const bool inParts = c.facts.steps.empty();
    std::vector<Growth> growths;
    std::size_t most = 0;
    for (const Track* track : counters) {
        Growth growth{.counter = track,
                      .threshold = ofAllocator(track->name) ? kCounted : kSampled,
                      .floors = floorsOf(c.trace.counter(track->id), steps),
                      .partSeconds = inParts ? toUs(steps.front().duration()) / 1e6 : 0};
        most = std::max(most, growth.floors.size());
        if (growth.floors.size() < growth.threshold.steps)
            continue;
        measure(growth);
        growths.push_back(std::move(growth));
    }
    if (growths.empty())
        return tooFewSamples(c, most);
    std::stable_sort(growths.begin(), growths.end(), [](const Growth& a, const Growth& b) { return a.mid > b.mid; });
    for (const Growth& growth : growths)
        if (growth.isSteady() && growth.matters())
            return finding(c, growth);
    const Growth& first = growths.front();
    const MessageParameter counter{"counter", first.counter->name},
        begin{"first", first.floors.front().bytes, bytes(first.floors.front().bytes)},
        end{"last", first.floors.back().bytes, bytes(first.floors.back().bytes)};
    if (inParts)
        return silent(message<"memory.growth.stable_over_time",
                              "Memory does not keep growing: {counter} is {first} in the first part of the trace and "
                              "{last} in the last.">({counter, begin, end}));
    return silent(
        message<"memory.growth.stable",
                "Memory does not keep growing: {counter} is {first} in the first and {last} in the last of {steps} "
                "steps.">({counter, begin, end, {"steps", first.steps() + 1, countText(first.steps() + 1)}}));
}

} // namespace

Rule memory_growth()
{
    return {"memory.growth", "Memory grows from step to step", check, Needs::Run};
}

} // namespace advisor::rules
