#include "profiler/analysis/steps/warm_up.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace profiler::analysis {

namespace {

// Scales a median absolute deviation to the standard deviation of normally distributed values.
constexpr double kDeviationScale = 1.4826;
// Even very regular steps differ by the resolution of clocks and timers.
constexpr double kLeastDeviation = 0.02;
constexpr double kClipAt = 5;
constexpr double kLevel = 0.01;
// With fewer steps, no test can distinguish a beginning from the rest.
constexpr std::size_t kFewestSteps = 4;
// A change must be followed by this many steady steps before it is accepted.
constexpr std::size_t kFewestSteadySteps = 3;

/// Quantile of the standard normal distribution for 1 - tail, accurate to 4.5e-4. Source: Abramowitz & Stegun 26.2.23.
double normalQuantileOfTail(double tail)
{
    const double t = std::sqrt(-2 * std::log(tail));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

double medianOf(std::span<const double> values)
{
    return percentile(std::vector<double>(values.begin(), values.end()), 0.5);
}

/// Median and standard deviation of the steps that are certainly after warm-up.
struct Steady {
    double median = 0, deviation = 0;
};

Steady steadyPart(std::span<const double> logs)
{
    const auto later = logs.subspan(logs.size() / 2);
    Steady steady{.median = medianOf(later), .deviation = 0};
    std::vector<double> distances;
    distances.reserve(later.size());
    for (const double value : later)
        distances.push_back(std::abs(value - steady.median));
    steady.deviation = std::max(kDeviationScale * percentile(std::move(distances), 0.5), kLeastDeviation);
    return steady;
}

/// The point at which the values before and after differ most; 0: no point is significant.
std::size_t changePoint(std::span<const double> values, double deviation)
{
    const std::size_t count = values.size();
    double after = 0;
    for (const double value : values)
        after += value;
    double before = 0, largest = 0;
    std::size_t at = 0;
    for (std::size_t i = 1; i < count; ++i) {
        before += values[i - 1];
        after -= values[i - 1];
        const auto left = static_cast<double>(i), right = static_cast<double>(count - i);
        const double difference =
            std::abs(before / left - after / right) / (deviation * std::sqrt(1 / left + 1 / right));
        if (difference > largest) {
            largest = difference;
            at = i;
        }
    }
    return largest > normalQuantileOfTail(kLevel / 2 / static_cast<double>(count - 1)) ? at : 0;
}

// A step is an outlier if it differs from the median by more than this many standard deviations, and by more than
// kLeastWarmUpExcess of the median.
constexpr double kSigmas = 3;
// Warm-up is at the beginning: it cannot be more of an epoch than this.
constexpr double kMostOfEpoch = 0.25;
// For the warm-up test of an epoch, its first steps are followed by this many steady steps of the whole run: enough for
// a good estimate of their spread.
constexpr std::size_t kMostSteadySteps = 200;
// With fewer steps, the change-point test has no power: at its error rate of 1 %, it does not detect a change of 30 %
// in six steps. The first steps are then compared with the spread of the others, like outliers. Chosen.
constexpr std::size_t kFewSteps = 10;

/// At most `most` values, evenly spread over `values`.
std::vector<double> thinned(const std::vector<double>& values, std::size_t most)
{
    if (values.size() <= most)
        return values;
    std::vector<double> kept;
    for (std::size_t i = 0; i < most; ++i)
        kept.push_back(values[i * values.size() / most]);
    return kept;
}

struct Typical {
    double median = 0, tolerance = 0;
    [[nodiscard]] bool isFar(double us) const { return std::abs(us - median) > tolerance; }
};

Typical typical(const std::vector<double>& us)
{
    Typical result{.median = percentile(us, 0.5), .tolerance = 0};
    std::vector<double> deviations(us.size());
    std::transform(us.begin(), us.end(), deviations.begin(), [&](double v) { return std::abs(v - result.median); });
    result.tolerance = std::max(kSigmas * kDeviationScale * percentile(std::move(deviations), 0.5),
                                kLeastWarmUpExcess * result.median);
    return result;
}

// Work is one-time work if it takes less in the second half of the window than this share of its time in the first
// half. Chosen: caches still grow a little later on, and recurring work takes about as long in both halves.
constexpr double kMostLater = 0.1;
// Launches and convolutions are one-time work only if a single call is this slow. Chosen: a launch takes microseconds;
// creating a context, loading a module or searching for algorithms takes tens of milliseconds.
constexpr Nanoseconds kSlowCall = std::chrono::milliseconds(10);
// In addition, every later call must be shorter by this factor, because a full launch queue also blocks later launches.
constexpr std::int64_t kTimesLater = 10;
constexpr std::size_t kMostListed = 10;
constexpr std::size_t kKinds = 5;

bool isLaunch(std::string_view name)
{
    return name.find("LaunchKernel") != name.npos || name.find("GraphLaunch") != name.npos;
}

bool isTunedConvolution(std::string_view name)
{
    return name.starts_with("aten::cudnn_convolution") || name.starts_with("aten::miopen_convolution");
}

std::optional<OneTimeKind> kindOf(std::string_view name)
{
    if (isCodeLoading(name))
        return OneTimeKind::CodeLoading;
    if (name.ends_with("(dynamo_timed)")) // PyTorch's ranges around the parts of a compilation
        return OneTimeKind::Compilation;
    if (isLaunch(name))
        return OneTimeKind::FirstLaunch;
    if (isTunedConvolution(name))
        return OneTimeKind::Autotuning;
    if (name.starts_with("aten::")) // "aten::FreeXyz" is not a driver call
        return std::nullopt;
    return isAllocation(name) ? std::optional(OneTimeKind::Allocation) : std::nullopt;
}

bool judgesSingleCalls(OneTimeKind kind)
{
    return kind == OneTimeKind::FirstLaunch || kind == OneTimeKind::Autotuning;
}

struct Call {
    TimeRange range;
    SliceId slice;
};

/// The calls of one kind in the two halves of the window.
struct Halves {
    std::vector<Call> first;
    Nanoseconds later{}, longestLater{};
};

std::array<Halves, kKinds> callsIn(const Trace& trace, TimeRange window)
{
    constexpr std::array kKindsOfSlices = {ActivityKind::CudaRuntime, ActivityKind::CudaDriver, ActivityKind::Overhead,
                                           ActivityKind::UserAnnotation, ActivityKind::CpuOp};
    std::array<Halves, kKinds> calls;
    NameAnswers kinds(trace, kindOf);
    const TraceTime middle = window.begin + window.duration() / 2;
    const bool operators = anyName(trace, isTunedConvolution);
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        for (const ActivityKind sliceKind : kKindsOfSlices) {
            if (sliceKind == ActivityKind::CpuOp && !operators)
                continue;
            forEachViewOf(trace, track.id, sliceKind, [&](const SliceView& view) {
                const auto kind = kinds(view.nameId());
                if (!kind || view.begin() < window.begin || view.begin() >= window.end)
                    return;
                Halves& halves = calls[static_cast<std::size_t>(*kind)];
                if (view.begin() >= middle) {
                    halves.later += view.duration();
                    halves.longestLater = std::max(halves.longestLater, view.duration());
                } else if (!judgesSingleCalls(*kind) || view.duration() >= kSlowCall) {
                    halves.first.push_back({{view.begin(), view.begin() + view.duration()}, view.id()});
                }
            });
        }
    }
    return calls;
}

/// The calls of the first half that do not recur.
std::vector<Call> oneTimeCalls(OneTimeKind kind, Halves halves)
{
    if (judgesSingleCalls(kind)) {
        std::erase_if(halves.first,
                      [&](const Call& call) { return call.range.duration() < kTimesLater * halves.longestLater; });
        return std::move(halves.first);
    }
    Nanoseconds sum{};
    for (const Call& call : halves.first)
        sum += call.range.duration();
    if (toUs(halves.later) >= kMostLater * toUs(sum))
        halves.first.clear();
    return std::move(halves.first);
}

} // namespace

WarmUpEnd findWarmUpEnd(std::span<const double> durations, std::size_t most)
{
    WarmUpEnd end;
    if (durations.size() < kFewestSteps)
        return end;
    std::vector<double> logs, clipped;
    for (const double duration : durations)
        logs.push_back(std::log(std::max(duration, 1e-300)));
    const Steady steady = steadyPart(logs);
    const double reach = kClipAt * steady.deviation, least = std::log1p(kLeastWarmUpExcess);
    for (const double value : logs)
        clipped.push_back(std::clamp(value, steady.median - reach, steady.median + reach));

    while (durations.size() - end.first >= kFewestSteps) {
        const auto rest = std::span(logs).subspan(end.first);
        std::size_t change = changePoint(std::span(clipped).subspan(end.first), steady.deviation);
        const double excess = change > 0 ? medianOf(rest.first(change)) - medianOf(rest.subspan(change)) : 0;
        if (std::abs(excess) < least) {
            end.isSteady = true;
            return end;
        }
        // Clipping may place the change too late. Moves it back over steps that already resemble the steady ones.
        while (change > 0 && std::abs(rest[change - 1] - medianOf(rest.subspan(change))) < least)
            --change;
        // Too late for warm-up: something else changed.
        if (change == 0 || end.first + change > most)
            return end;
        end.first += change;
    }
    end.isSteady = durations.size() - end.first >= kFewestSteadySteps;
    return end;
}

WarmUpEnd findWarmUpEnd(std::span<const double> durations)
{
    return findWarmUpEnd(durations, (durations.size() + 1) / 2);
}

void markWarmup(std::vector<Step>& steps, const std::vector<bool>& epochStart, const std::vector<bool>& interrupted,
                bool inTheMiddle)
{
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (i == 0 || epochStart[i])
            starts.push_back(i);
    starts.push_back(steps.size());

    std::vector<double> later; // the second half of each epoch, which contains no warm-up
    for (std::size_t e = 0; e + 1 < starts.size(); ++e)
        for (std::size_t i = starts[e] + (starts[e + 1] - starts[e]) / 2; i < starts[e + 1]; ++i)
            if (!steps[i].partial && !interrupted[i])
                later.push_back(toUs(steps[i].range.duration()));
    const Typical usual = typical(later);

    const std::vector<double> steady = thinned(later, kMostSteadySteps);
    for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
        const auto length = starts[e + 1] - starts[e];
        const auto most = static_cast<std::size_t>(std::ceil(kMostOfEpoch * static_cast<double>(length)));
        // The first steps of this epoch, followed by steady ones of the whole run, because epochs may be short.
        std::vector<double> series;
        for (std::size_t i = starts[e]; i < starts[e] + length / 2; ++i)
            series.push_back(toUs(steps[i].range.duration()));
        series.insert(series.end(), steady.begin(), steady.end());
        const std::size_t end = starts[e] + findWarmUpEnd(series, most).first;
        for (std::size_t i = starts[e]; i < end; ++i)
            steps[i].warmup = true;
        for (std::size_t i = starts[e];
             steps.size() < kFewSteps && i < starts[e] + most && usual.isFar(toUs(steps[i].range.duration())); ++i)
            steps[i].warmup = true;
    }
    for (std::size_t i = 0; i < steps.size(); ++i)
        steps[i].warmup = steps[i].warmup || (i == 0 && !inTheMiddle) || interrupted[i];
    // A profiler that stops within a step cuts it off.
    if (inTheMiddle && steps.size() > 2 && usual.isFar(toUs(steps.back().range.duration())) &&
        toUs(steps.back().range.duration()) < usual.median)
        steps.back().partial = true;
}

void markOneTimeWork(const Trace& trace, std::vector<Step>& steps)
{
    const std::size_t half = steps.size() / 2;
    if (half == 0)
        return;
    std::vector<double> later;
    for (std::size_t i = half; i < steps.size(); ++i)
        if (!steps[i].partial)
            later.push_back(toUs(steps[i].range.duration()));
    if (later.empty())
        return;
    const double least = kLeastWarmUpExcess * percentile(std::move(later), 0.5);
    const Intervals work = oneTimeIntervals(oneTimeWork(trace, {steps.front().range.begin, steps.back().range.end}));
    if (work.empty())
        return;
    for (std::size_t i = 0; i < half; ++i) {
        const std::vector<TimeRange> range{steps[i].range};
        if (toUs(total(intersect(overlapping(work, steps[i].range), range))) >= least)
            steps[i].warmup = true;
        else if (!steps[i].warmup)
            return;
    }
}

std::string_view oneTimeText(OneTimeKind kind)
{
    switch (kind) {
    case OneTimeKind::CodeLoading:
        return "loading kernel code";
    case OneTimeKind::Allocation:
        return "allocating memory";
    case OneTimeKind::Compilation:
        return "compiling";
    case OneTimeKind::FirstLaunch:
        return "first launches";
    case OneTimeKind::Autotuning:
        return "autotuning convolutions";
    }
    return {};
}

std::vector<OneTimePart> oneTimeWork(const Trace& trace, TimeRange window)
{
    std::vector<OneTimePart> parts;
    std::array<Halves, kKinds> calls = callsIn(trace, window);
    Intervals taken;
    for (std::size_t i = 0; i < kKinds; ++i) { // kinds are ordered from most to least specific
        const auto kind = static_cast<OneTimeKind>(i);
        std::vector<Call> found = oneTimeCalls(kind, std::move(calls[i]));
        std::stable_sort(found.begin(), found.end(),
                         [](const Call& a, const Call& b) { return a.range.duration() > b.range.duration(); });
        OneTimePart part;
        part.kind = kind;
        part.calls = static_cast<std::int64_t>(found.size());
        std::vector<TimeRange> ranges;
        for (const Call& call : found) {
            ranges.push_back(call.range);
            if (part.longest.size() < kMostListed)
                part.longest.push_back(call.slice);
        }
        part.where = subtract(unite(std::move(ranges)), taken);
        part.time = total(part.where);
        if (part.time.count() == 0)
            continue;
        taken = unite(std::move(taken), part.where);
        parts.push_back(std::move(part));
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const OneTimePart& a, const OneTimePart& b) { return a.time > b.time; });
    return parts;
}

Intervals oneTimeIntervals(const std::vector<OneTimePart>& parts)
{
    Intervals all;
    for (const OneTimePart& part : parts)
        all = unite(std::move(all), part.where);
    return all;
}

} // namespace profiler::analysis
