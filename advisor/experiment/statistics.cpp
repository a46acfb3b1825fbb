#include "advisor/experiment/statistics.h"

#include "advisor/prediction/confidence.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace advisor {

namespace {

using profiler::analysis::mean;
using profiler::analysis::percentile;

struct Sample {
    double mean = 0, variance = 0;
};

Sample sampleOf(std::span<const double> values)
{
    const auto n = static_cast<double>(values.size());
    Sample sample;
    for (const double value : values)
        sample.mean += value / n;
    for (const double value : values)
        sample.variance += (value - sample.mean) * (value - sample.mean) / (n - 1);
    return sample;
}

/// Student's t interval of the mean of `n` observations.
Interval intervalOf(const Sample& sample, double n, double alpha)
{
    if (n < 2)
        return {std::exp(sample.mean), 0, std::numeric_limits<double>::infinity()};
    const double reach = studentTQuantile(1 - alpha / 2, n - 1) * std::sqrt(sample.variance / n);
    return {std::exp(sample.mean), std::exp(sample.mean - reach), std::exp(sample.mean + reach)};
}

/// Mean over the starts of the variance of the pairs within a start.
double varianceWithinStarts(std::span<const Pair> pairs, std::size_t starts, std::size_t pairsPerStart)
{
    double variance = 0;
    for (std::size_t start = 0; start < starts; ++start) {
        std::vector<double> ofStart;
        for (const Pair& pair : pairs.subspan(start * pairsPerStart, pairsPerStart))
            ofStart.push_back(pair.logRatio);
        variance += sampleOf(ofStart).variance / static_cast<double>(starts);
    }
    return variance;
}

// This many equal steps are not a coincidence of a coarse clock.
constexpr std::size_t kManySteps = 5;
constexpr std::size_t kLeastForMedians = 5;

/// Variance of an estimate on the logarithmic scale, and its degrees of freedom.
struct LogError {
    double variance = 0, freedom = 0;
};

/// Squared standard error of the mean.
double squaredError(const std::vector<double>& values)
{
    const double average = mean(values), count = static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values)
        squares += (value - average) * (value - average);
    return squares / (count - 1) / count;
}

LogError errorOfMean(const std::vector<double>& steps)
{
    const std::vector<double> means = batchMeans(steps);
    const double average = mean(means);
    return {squaredError(means) / (average * average), static_cast<double>(means.size()) - 1};
}

/// Variance of the logarithm of the median of independent values: half the distance of two order statistics, divided by
/// the normal quantile of the probability that the median is outside them.
double squaredErrorOfMedian(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const auto count = static_cast<double>(values.size());
    const double place = std::max(1.0, std::round((count + 1) / 2 - std::sqrt(count)));
    double outside = 0;              // P(binomial(count, 1/2) < place)
    double term = std::exp2(-count); // P(binomial = i)
    for (double i = 0; i < place; ++i) {
        outside += term;
        term *= (count - i) / (i + 1);
    }
    constexpr double kNearlyNormal = 1e6;
    const double quantile = studentTQuantile(1 - outside, kNearlyNormal);
    const auto low = static_cast<std::size_t>(place) - 1;
    const double distance = std::log(values[values.size() - 1 - low] / values[low]);
    return distance * distance / (4 * quantile * quantile);
}

LogError errorOfMedian(const std::vector<double>& steps)
{
    // Beyond a thousand steps, 2⁻ⁿ underflows; the variation of the median then follows from the batches alone.
    constexpr std::size_t kMostIndependent = 1000;
    LogError error{steps.size() <= kMostIndependent ? squaredErrorOfMedian(steps) : 0,
                   static_cast<double>(steps.size()) - 1};
    if (steps.size() < kLeastForMedians * kBatches)
        return error;
    std::vector<double> medians;
    for (const std::vector<double>& batch : batchesOfNeighbours(steps, kLeastForMedians))
        medians.push_back(std::log(percentile(batch, 0.5)));
    error.variance = std::max(error.variance, squaredError(medians));
    error.freedom = static_cast<double>(kBatches) - 1;
    return error;
}

std::optional<std::pair<double, double>> around(double logRatio, double variance, double freedom, std::size_t values)
{
    if (variance <= 0)
        return values < kManySteps ? std::nullopt : std::optional(std::pair(std::exp(logRatio), std::exp(logRatio)));
    const double half = studentTQuantile(0.975, freedom) * std::sqrt(variance);
    return std::pair(std::exp(logRatio - half), std::exp(logRatio + half));
}

/// The interval of a ratio whose numerator and denominator vary independently. Degrees of freedom: Welch and
/// Satterthwaite.
std::optional<std::pair<double, double>> intervalOf(const StepRatio& ratio, const LogError& a, const LogError& b,
                                                    std::size_t values)
{
    const double variance = a.variance + b.variance;
    const double freedom =
        variance > 0 ? variance * variance / (a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom)
                     : 1;
    return around(std::log(ratio.ratio()), variance, freedom, values);
}

bool canVary(const StepRatio& ratio, const std::vector<double>& a, const std::vector<double>& b)
{
    return a.size() > 1 && b.size() > 1 && ratio.a > 0 && ratio.b > 0;
}

} // namespace

std::vector<double> startMeans(const std::vector<Pair>& pairs, std::size_t pairsPerStart)
{
    std::vector<double> means;
    for (std::size_t end = pairsPerStart; end <= pairs.size(); end += pairsPerStart) {
        double sum = 0;
        for (std::size_t i = end - pairsPerStart; i < end; ++i)
            sum += pairs[i].logRatio;
        means.push_back(sum / static_cast<double>(pairsPerStart));
    }
    return means;
}

Interval ratioInterval(std::span<const double> logRatios, double alpha)
{
    return intervalOf(sampleOf(logRatios), static_cast<double>(logRatios.size()), alpha);
}

Interval pairedInterval(const std::vector<Pair>& pairs, std::size_t pairsPerStart, double alpha)
{
    const std::vector<double> means = startMeans(pairs, pairsPerStart);
    Sample sample = sampleOf(means);
    if (pairsPerStart > 1 && means.size() > 1)
        sample.variance = std::max(sample.variance, varianceWithinStarts(pairs, means.size(), pairsPerStart) /
                                                        static_cast<double>(pairsPerStart));
    return intervalOf(sample, static_cast<double>(means.size()), alpha);
}

bool isLook(std::size_t pairs)
{
    return std::find(kLooks.begin(), kLooks.end(), pairs) != kLooks.end();
}

std::optional<Verdict> decide(const Interval& ratio, bool last)
{
    if (ratio.low > kMinimumEffect)
        return Verdict::Pays;
    if (ratio.high < 1 / kMinimumEffect)
        return Verdict::Costs;
    if (ratio.low >= 1 / kMinimumEffect && ratio.high <= kMinimumEffect)
        return Verdict::DoesNotPay;
    if (!last)
        return std::nullopt;
    return ratio.high > kFutilityBound ? Verdict::Inconclusive : Verdict::DoesNotPay;
}

StepRatio ratioOfMeans(const std::vector<double>& a, const std::vector<double>& b)
{
    StepRatio found{mean(a), mean(b), {}};
    if (canVary(found, a, b))
        found.ci95 = intervalOf(found, errorOfMean(a), errorOfMean(b), std::min(a.size(), b.size()));
    return found;
}

StepRatio ratioOfMedians(const std::vector<double>& a, const std::vector<double>& b)
{
    StepRatio found{percentile(a, 0.5), percentile(b, 0.5), {}};
    const auto isPositive = [](double us) { return us > 0; };
    if (canVary(found, a, b) && std::ranges::all_of(a, isPositive) && std::ranges::all_of(b, isPositive))
        found.ci95 = intervalOf(found, errorOfMedian(a), errorOfMedian(b), std::min(a.size(), b.size()));
    return found;
}

StepRatio pairedRatio(std::span<const std::pair<double, double>> pairs)
{
    std::vector<double> logsA, logsB, logs;
    for (const auto& [a, b] : pairs) {
        if (a <= 0 || b <= 0)
            continue;
        logsA.push_back(std::log(a));
        logsB.push_back(std::log(b));
        logs.push_back(std::log(a / b));
    }
    if (logs.empty())
        return {};
    StepRatio found{std::exp(mean(logsA)), std::exp(mean(logsB)), {}};
    if (const std::vector<double> means = batchMeans(logs); means.size() > 1)
        found.ci95 = around(mean(logs), squaredError(means), static_cast<double>(means.size()) - 1, logs.size());
    return found;
}

} // namespace advisor
