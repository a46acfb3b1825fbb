#include "advisor/experiment/equal_time.h"

#include "advisor/experiment/statistics.h"

#include <algorithm>
#include <cmath>

namespace advisor {

namespace {

// Of the horizon. Chosen: the losses of single batches vary, so that a mean needs many steps; in the last fifth a loss
// hardly falls any more.
constexpr double kLastShare = 0.2;
// Times the loss before anything was learnt. Chosen: a training that still learns never gets there, and a limit keeps
// one lost seed from deciding by its size.
constexpr double kLostBeyond = 10;
// The same. Chosen: the resolution of 32-bit floats; a smaller loss is rounding.
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
    // Sums of step times: the last step may end a rounding error after the horizon.
    const double end = horizonSeconds * (1 + 1e-9);
    const auto after = std::find_if(m_points.begin(), m_points.end(), [&](const Point& p) { return p.seconds > end; });
    const auto from = std::find_if(m_points.begin(), after,
                                   [&](const Point& p) { return p.seconds > (1 - kLastShare) * horizonSeconds; });
    if (from != after)
        return {from, after};
    // No step ended within that time: the last one before it, or the first one.
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
        return profiler::fail<"experiment.loss_no_number", "The loss is no number before anything was learnt">(
            profiler::Error::Code::Unsupported, {}, "look for values in the data that are no numbers");
    if (untrained <= 0 || losses[0] < 0 || losses[1] < 0)
        return profiler::fail<"experiment.loss_no_ratio",
                              "A loss that is zero before anything was learnt, or negative, has no ratio">(
            profiler::Error::Code::Unsupported, {}, "give a loss that falls towards zero");
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
    // A seed from which both were lost compares nothing.
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
