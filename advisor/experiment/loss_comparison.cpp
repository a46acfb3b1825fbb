#include "advisor/experiment/loss_comparison.h"

#include "advisor/experiment/student_t.h"
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
    const auto n = static_cast<double>(a.size());
    result.a = std::accumulate(a.begin(), a.end(), 0.0) / n;
    result.b = std::accumulate(b.begin(), b.end(), 0.0) / n;
    if (a.size() < 2) {
        result.parity = std::isfinite(result.a) == std::isfinite(result.b);
        return result;
    }
    double squares = 0;
    for (const double loss : a)
        squares += (loss - result.a) * (loss - result.a);
    const double error = std::sqrt(squares / (n - 1) * 2 / n);
    result.tolerance = std::max(studentTQuantile(1 - kAlpha / 2, n - 1) * error, kRounding * std::abs(result.a));
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
    constexpr std::string_view kOther[] = {key::batchSize.name, key::seed.name, key::shuffle.name, key::augment.name};
    return std::none_of(changes.begin(), changes.end(), [&](const Toggle& change) {
        return change.key.starts_with("dataset.") ||
               std::find(std::begin(kOther), std::end(kOther), change.key) != std::end(kOther);
    });
}

} // namespace advisor
