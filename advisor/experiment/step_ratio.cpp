#include "advisor/experiment/step_ratio.h"

#include "advisor/prediction/student_t.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <cmath>

namespace advisor {

namespace {

using profiler::analysis::mean;
using profiler::analysis::percentile;

// This many equal steps are no accident of a clock that ticks coarsely.
constexpr std::size_t kManySteps = 5;
constexpr std::size_t kBatches = 8, kLeastForMeans = 2, kLeastForMedians = 5;

/// Variance of an estimate on the logarithmic scale, and its degrees of freedom.
struct LogError {
    double variance = 0, freedom = 0;
};

/// Eight runs of neighbours, what does not fill a batch added to the last; each value by itself where batches would be
/// smaller than `least`.
std::vector<std::vector<double>> batches(const std::vector<double>& values, std::size_t least)
{
    const std::size_t count = values.size() >= least * kBatches ? kBatches : values.size();
    const std::size_t size = count > 0 ? values.size() / count : 0;
    std::vector<std::vector<double>> parts;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * size);
        parts.emplace_back(first, i + 1 < count ? first + static_cast<std::ptrdiff_t>(size) : values.end());
    }
    return parts;
}

std::vector<double> batchMeans(const std::vector<double>& values)
{
    std::vector<double> means;
    for (const std::vector<double>& batch : batches(values, kLeastForMeans))
        means.push_back(mean(batch));
    return means;
}

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

/// Of the logarithm of the median of independent values: half the distance of two order statistics, over the normal
/// quantile of the probability that the median lies outside them.
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
    // Beyond a thousand steps 2⁻ⁿ underflows; the batches alone then say how far the median moves.
    constexpr std::size_t kMostIndependent = 1000;
    LogError error{steps.size() <= kMostIndependent ? squaredErrorOfMedian(steps) : 0,
                   static_cast<double>(steps.size()) - 1};
    if (steps.size() < kLeastForMedians * kBatches)
        return error;
    std::vector<double> medians;
    for (const std::vector<double>& batch : batches(steps, kLeastForMedians))
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

/// The interval of a ratio whose two sides vary independently. Degrees of freedom: Welch and Satterthwaite.
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
