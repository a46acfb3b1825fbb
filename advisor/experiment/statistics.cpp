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

Interval ratioInterval(std::span<const double> logRatios, double alpha)
{
    const auto n = static_cast<double>(logRatios.size());
    double mean = 0, squares = 0;
    for (const double value : logRatios)
        mean += value / n;
    if (logRatios.size() < 2)
        return {std::exp(mean), 0, std::numeric_limits<double>::infinity()};
    for (const double value : logRatios)
        squares += (value - mean) * (value - mean);
    const double error = std::sqrt(squares / (n - 1) / n);
    const double reach = studentTQuantile(1 - alpha / 2, n - 1) * error;
    return {std::exp(mean), std::exp(mean - reach), std::exp(mean + reach)};
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
