#include "advisor/prediction/student_t.h"

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

} // namespace advisor
