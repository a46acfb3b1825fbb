#include "profiler/analysis/steps/warm_up_end.h"

#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <cmath>
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

} // namespace profiler::analysis
