#include "advisor/experiment/loss_comparison.h"

#include "advisor/experiment/student_t.h"
#include "advisor/normal_interval.h"
#include "trainer/config/keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace advisor {

namespace key = config::key;

namespace {

// Of a loss: about what the rounding of 32-bit floats adds up to in a mean over many samples and a few hundred steps.
constexpr double kRounding = 1e-4;
constexpr double kAlpha = 0.05;

double mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values)
{
    const double middle = mean(values);
    double squares = 0;
    for (const double value : values)
        squares += (value - middle) * (value - middle);
    return squares / static_cast<double>(values.size() - 1);
}

/// The ratio of two sample variances of `freedom` degrees each that chance alone exceeds with probability alpha.
/// Source: √k / 2 · (√F − 1 / √F) is Student's t with k degrees for F of (k, k) (Cacoullos, 1965).
double varianceRatioLimit(double freedom)
{
    const double u = 2 * studentTQuantile(1 - kAlpha, freedom) / std::sqrt(freedom);
    const double root = (u + std::sqrt(u * u + 4)) / 2;
    return root * root;
}

// Of the baseline's variance. Of three seeds chance alone makes 19 times as much: a worse arm that is also less steady
// would excuse itself.
constexpr double kMostRatio = 4;

/// How far the arms' means may lie apart, see LossComparison::result().
double tolerated(const std::vector<double>& a, const std::vector<double>& b)
{
    const auto n = static_cast<double>(a.size());
    std::vector<double> differences;
    for (std::size_t i = 0; i < a.size(); ++i)
        differences.push_back(b[i] - a[i]);
    const double ofA = variance(a), ofB = variance(b), most = std::min(varianceRatioLimit(n - 1), kMostRatio) * ofA;
    const double pooled = (ofA + (ofB <= most ? ofB : most)) / 2; // one that is no number counts as the most
    const double apart = studentTQuantile(1 - kAlpha / 2, 2 * n - 2) * std::sqrt(pooled * 2 / n);
    const double paired = kNormalQuantile * std::sqrt(pooled * 2 / n) +
                          studentTQuantile(1 - kAlpha / 2, n - 1) * std::sqrt(variance(differences) / n);
    return paired < apart ? paired : apart;
}

} // namespace

void LossComparison::nextSeed()
{
    m_seeds.emplace_back();
}

void LossComparison::add(std::span<const double> a, std::span<const double> b)
{
    if (a.size() != b.size() || a.empty())
        return;
    if (m_seeds.empty())
        nextSeed();
    Seed& seed = m_seeds.back();
    seed.a = std::accumulate(a.begin(), a.end(), seed.a);
    seed.b = std::accumulate(b.begin(), b.end(), seed.b);
    seed.steps += a.size();
}

LossComparison::Result LossComparison::result() const
{
    std::vector<double> a, b; // mean loss from each seed
    for (const Seed& seed : m_seeds)
        if (seed.steps > 0) {
            a.push_back(seed.a / static_cast<double>(seed.steps));
            b.push_back(seed.b / static_cast<double>(seed.steps));
        }
    Result result;
    result.seeds = a.size();
    if (a.empty())
        return result;
    result.a = mean(a);
    result.b = mean(b);
    if (a.size() < 2) {
        result.parity = std::isfinite(result.a) == std::isfinite(result.b);
        return result;
    }
    result.tolerance = std::max(tolerated(a, b), kRounding * std::abs(result.a));
    // Not a number is within no tolerance.
    result.parity = std::abs(result.a - result.b) <= result.tolerance && std::isfinite(result.tolerance);
    return result;
}

config::TrainingConfig withSeedOfStart(config::TrainingConfig config, std::size_t start)
{
    constexpr std::int64_t kSeeds = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1; // as the knob has them
    const std::int64_t seed = (config[key::seed] + static_cast<std::int64_t>(start)) % kSeeds;
    static_cast<void>(config.set(key::seed.name, std::to_string(seed)));
    return config;
}

bool sameBatches(const std::vector<Toggle>& changes)
{
    return std::none_of(changes.begin(), changes.end(), [](const Toggle& change) {
        const config::Knob* knob = config::findKnob(change.key);
        return knob && config::changesBatches(*knob, change.from, change.to);
    });
}

} // namespace advisor
