#include "advisor/experiment/loss_comparison.h"

#include "trainer/config/keys.h"

#include <algorithm>
#include <cmath>

namespace advisor {

namespace key = config::key;

void LossComparison::add(Arm& arm, std::span<const double> losses)
{
    for (std::size_t i = 0; i < losses.size(); ++i) {
        arm.sum += losses[i];
        if (i > 0)
            arm.squaredDifferences += (losses[i] - losses[i - 1]) * (losses[i] - losses[i - 1]);
    }
}

void LossComparison::add(std::span<const double> a, std::span<const double> b)
{
    if (a.size() != b.size() || a.empty())
        return;
    add(m_arms[0], a);
    add(m_arms[1], b);
    m_steps += a.size();
    m_differences += a.size() - 1;
}

LossComparison::Result LossComparison::result() const
{
    if (m_steps == 0)
        return {};
    const auto n = static_cast<double>(m_steps);
    Result result;
    result.steps = m_steps;
    result.a = m_arms[0].sum / n;
    result.b = m_arms[1].sum / n;
    const double squares = m_arms[0].squaredDifferences + m_arms[1].squaredDifferences;
    const double variances = m_differences > 0 ? squares / 2 / static_cast<double>(m_differences) : 0;
    result.tolerance = std::max(0.02 * std::abs(result.a), 2 * std::sqrt(variances / n));
    // Not a number is within no tolerance.
    result.parity = std::abs(result.a - result.b) <= result.tolerance && std::isfinite(result.tolerance);
    return result;
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
