#include "advisor/experiment/equal_time.h"

#include "advisor/experiment/statistics.h"

#include <algorithm>
#include <cmath>

namespace advisor {

namespace {

// Share of the horizon. Chosen: losses of single batches vary, so a mean needs many steps; in the last fifth, the loss
// hardly falls any more.
constexpr double kLastShare = 0.2;
// Multiple of the initial loss. Chosen: a training run that still learns never reaches it, and the limit keeps a single
// diverged seed from dominating the result.
constexpr double kLostBeyond = 10;
// The same for small losses. Chosen: the resolution of 32-bit floats; a smaller loss is rounding error.
constexpr double kNothingLeft = 1e-6;

} // namespace

void LearningCurve::add(const std::vector<double>& seconds, const std::vector<double>& losses)
{
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        m_seconds += seconds[i];
        if (i < losses.size())
            m_points.push_back({m_seconds, losses[i]});
    }
}

std::span<const LearningCurve::Point> LearningCurve::lastFifth(double horizonSeconds) const
{
    // Tolerance for sums of step times, because the last step may end slightly after the horizon due to rounding.
    const double end = horizonSeconds * (1 + 1e-9);
    const auto after = std::find_if(m_points.begin(), m_points.end(), [&](const Point& p) { return p.seconds > end; });
    const auto from = std::find_if(m_points.begin(), after,
                                   [&](const Point& p) { return p.seconds > (1 - kLastShare) * horizonSeconds; });
    if (from != after)
        return {from, after};
    // If no step ended in that time: the last step before it, or the first step.
    if (after != m_points.begin())
        return {after - 1, after};
    return std::span(m_points).first(std::min<std::size_t>(1, m_points.size()));
}

std::optional<double> LearningCurve::endOf(double horizonSeconds) const
{
    const auto points = lastFifth(horizonSeconds);
    if (points.empty())
        return std::nullopt;
    double sum = 0;
    for (const Point& point : points)
        sum += point.loss;
    return sum / static_cast<double>(points.size());
}

std::size_t LearningCurve::stepsAtEndOf(double horizonSeconds) const
{
    return lastFifth(horizonSeconds).size();
}

profiler::Result<void> EqualTimeLosses::add(std::array<double, 2> losses, double untrained)
{
    if (!std::isfinite(untrained))
        return profiler::fail<"experiment.loss_no_number", "The initial loss is NaN or infinite">(
            profiler::Error::Code::Unsupported, {}, "check the data for NaN and infinite values");
    if (untrained <= 0 || losses[0] < 0 || losses[1] < 0)
        return profiler::fail<"experiment.loss_no_ratio", "A loss that is initially zero or negative has no ratio">(
            profiler::Error::Code::Unsupported, {}, "use a loss that is positive and falls towards zero");
    for (std::size_t arm = 0; arm < 2; ++arm) {
        const bool lost = !std::isfinite(losses[arm]) || losses[arm] > kLostBeyond * untrained;
        m_found.diverged[arm] += lost ? 1 : 0;
        losses[arm] = lost ? kLostBeyond * untrained : std::max(losses[arm], kNothingLeft * untrained);
    }
    m_found.seeds.push_back({losses[0], losses[1], std::log(losses[0] / losses[1])});
    return {};
}

LossAtEqualTime EqualTimeLosses::result() const
{
    LossAtEqualTime result = m_found;
    if (result.seeds.empty())
        return result;
    std::vector<double> logRatios;
    double logA = 0, logB = 0;
    const auto n = static_cast<double>(result.seeds.size());
    for (const Pair& seed : result.seeds) {
        logRatios.push_back(seed.logRatio);
        logA += std::log(seed.a) / n;
        logB += std::log(seed.b) / n;
    }
    result.a = std::exp(logA);
    result.b = std::exp(logB);
    result.ratio = ratioInterval(logRatios);
    const auto saved = [&](double ratio) { return result.a * (1 - 1 / ratio); };
    result.saved = {saved(result.ratio.value), saved(result.ratio.low), saved(result.ratio.high)};
    return result;
}

LossCheck EqualTimeLosses::check(std::size_t steps) const
{
    const LossAtEqualTime losses = result();
    LossCheck check;
    check.at = LossCheck::At::EqualTime;
    check.margin = kEqualTimeMargin;
    check.a = losses.a;
    check.b = losses.b;
    check.seeds = losses.seeds.size();
    check.steps = steps;
    // A seed with which both arms diverged compares nothing.
    if (losses.seeds.empty() || losses.diverged[0] > 0) {
        check.kind = losses.diverged[1] > losses.diverged[0] ? LossKind::Worse : LossKind::NotCompared;
        return check;
    }
    std::vector<double> differences;
    for (const Pair& seed : losses.seeds)
        differences.push_back(std::expm1(-seed.logRatio));
    const NonInferiority test = testNonInferiority(differences, check.margin);
    check.kind = losses.diverged[1] > 0 ? LossKind::Worse : test.kind;
    check.highest = test.highest;
    return check;
}

} // namespace advisor
