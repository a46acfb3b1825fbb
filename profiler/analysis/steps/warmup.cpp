#include "profiler/analysis/steps/warmup.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/percentile.h"
#include "profiler/analysis/steps/one_time_work.h"
#include "profiler/analysis/steps/warm_up_end.h"

#include <algorithm>
#include <cmath>

namespace profiler::analysis {

namespace {

// Scales a median absolute deviation to the standard deviation of normally distributed values.
constexpr double kMadToSigma = 1.4826;
constexpr double kSigmas = 3;
// If steps are very regular, a step is not an outlier unless it differs by at least this share of the median.
constexpr double kLeastShare = 1.0 / 7;
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
    result.tolerance =
        std::max(kSigmas * kMadToSigma * percentile(std::move(deviations), 0.5), kLeastShare * result.median);
    return result;
}

} // namespace

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

} // namespace profiler::analysis
