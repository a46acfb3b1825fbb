#include "advisor/prediction/confidence.h"

#include "profiler/analysis/statistics.h"

#include <cassert>
#include <cmath>
#include <limits>

namespace advisor {

namespace {

/// The continued fraction of 8.17.22, which converges quickly for x < (a + 1) / (a + b + 2).
double betaFraction(double a, double b, double x)
{
    constexpr double kTiny = 1e-300; // replaces zero denominators
    constexpr int kMostTerms = 500;
    const auto nonZero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
    double c = 1;
    double d = 1 / nonZero(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int m = 1; m <= kMostTerms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / nonZero(1 + even * d);
        c = nonZero(1 + even / c);
        result *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / nonZero(1 + odd * d);
        c = nonZero(1 + odd / c);
        result *= d * c;
        if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon())
            break;
    }
    return result;
}

} // namespace

double incompleteBeta(double a, double b, double x)
{
    assert(a > 0 && b > 0 && x >= 0 && x <= 1);
    if (x == 0 || x == 1)
        return x;
    const double logFront = a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
    if (x < (a + 1) / (a + b + 2))
        return std::exp(logFront) * betaFraction(a, b, x) / a;
    return 1 - std::exp(logFront) * betaFraction(b, a, 1 - x) / b;
}

double studentTCdf(double t, double freedom)
{
    const double tail = incompleteBeta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
    return t > 0 ? 1 - tail : tail;
}

double studentTQuantile(double p, double freedom)
{
    assert(p > 0 && p < 1 && freedom > 0);
    if (p < 0.5)
        return -studentTQuantile(1 - p, freedom);
    // Called only a few times per experiment: bisection needs no derivative and always converges.
    double low = 0, high = 1;
    while (studentTCdf(high, freedom) < p)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
        const double middle = (low + high) / 2;
        (studentTCdf(middle, freedom) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

ShareInterval shareInterval(double seen, double all)
{
    const double share = seen / all, z2 = kNormalQuantile * kNormalQuantile;
    const double middle = (share + z2 / (2 * all)) / (1 + z2 / all);
    const double reach = kNormalQuantile / (1 + z2 / all) * std::sqrt(share * (1 - share) / all + z2 / (4 * all * all));
    return {middle - reach, share, middle + reach};
}

std::vector<std::vector<double>> batchesOfNeighbours(std::span<const double> values, std::size_t least)
{
    const std::size_t count = values.size() >= least * kBatches ? kBatches : values.size();
    const std::size_t size = count > 0 ? values.size() / count : 0;
    std::vector<std::vector<double>> batches;
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * size);
        batches.emplace_back(first, i + 1 < count ? first + static_cast<std::ptrdiff_t>(size) : values.end());
    }
    return batches;
}

std::vector<double> batchMeans(std::span<const double> values)
{
    constexpr std::size_t kLeast = 2;
    std::vector<double> means;
    for (const std::vector<double>& batch : batchesOfNeighbours(values, kLeast))
        means.push_back(profiler::analysis::mean(batch));
    return means;
}

} // namespace advisor
