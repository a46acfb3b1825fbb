#include "advisor/experiment/statistics.h"

#include "advisor/prediction/student_t.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace advisor {

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

namespace {

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

} // namespace

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

} // namespace advisor
