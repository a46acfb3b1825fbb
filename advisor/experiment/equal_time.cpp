#include "advisor/experiment/equal_time.h"

#include "advisor/experiment/experiment_run.h"
#include "advisor/experiment/statistics.h"
#include "advisor/experiment/turn_order.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace advisor {

namespace {

constexpr double kLastShare = 0.2;
constexpr double kLostBeyond = 10;
constexpr double kNothingLeft = 1e-6;

std::string seedsText(const LossAtEqualTime& losses)
{
    return fmt::format("over {} seed{}", losses.seeds.size(), losses.seeds.size() == 1 ? "" : "s");
}

std::string lossesText(const LossAtEqualTime& losses)
{
    const Interval& saved = losses.saved;
    const bool more = saved.value < 0;
    const Interval shown = more ? Interval{-saved.value, -saved.high, -saved.low} : saved;
    return fmt::format("a {} loss of {:.4g} against {:.4g}, {:.3g} {} (95 % interval {:.3g} to {:.3g}) {}",
                       losses.validation ? "validation" : "training", losses.b, losses.a, shown.value,
                       more ? "more" : "less", shown.low, shown.high, seedsText(losses));
}

std::string divergedText(const LossAtEqualTime& losses)
{
    std::string text;
    for (const std::size_t arm : {0, 1})
        if (losses.diverged[arm] > 0)
            text += fmt::format(" {}'s training was lost from {} of {} seeds.",
                                arm == 0 ? "The baseline" : "The change", losses.diverged[arm], losses.seeds.size());
    return text;
}

std::string verdictText(const ExperimentResult& result, bool outOfTime)
{
    const LossAtEqualTime& losses = *result.lossAtEqualTime;
    const std::string after = fmt::format("after {:.3g} s of training", losses.seconds);
    const std::size_t firstLook = kLooks.front() / kPairsPerStart;
    if (losses.seeds.size() < 2)
        return "The time was over before two seeds were trained.";
    switch (result.verdict) {
    case Verdict::Pays:
        return fmt::format("Lower {}: {}.", after, lossesText(losses));
    case Verdict::Costs:
        return fmt::format("Higher {}: {}.", after, lossesText(losses));
    case Verdict::DoesNotPay:
        return fmt::format("{} is shown {}: {}.",
                           losses.ratio.low >= 1 / kWorth && losses.ratio.high <= kWorth
                               ? "No difference of one percent or more"
                               : "No gain of more than one percent",
                           after, lossesText(losses));
    case Verdict::Inconclusive:
        break;
    }
    if (outOfTime && losses.seeds.size() < firstLook)
        return fmt::format("The time was over after {} seeds: before the first look, which is after {}.",
                           losses.seeds.size(), firstLook);
    return fmt::format("The seeds differ too much to tell {}: {}.", after, lossesText(losses));
}

} // namespace

void LearningCurve::add(const std::vector<double>& seconds, const std::vector<double>& losses)
{
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        m_seconds += seconds[i];
        if (i < losses.size())
            m_points.push_back({m_seconds, losses[i]});
    }
}

std::optional<double> LearningCurve::end() const
{
    if (m_points.empty())
        return std::nullopt;
    double sum = 0;
    std::size_t count = 0;
    for (auto point = m_points.rbegin(); point != m_points.rend(); ++point, ++count) {
        if (count > 0 && point->seconds <= (1 - kLastShare) * m_horizon)
            break;
        sum += point->loss;
    }
    return sum / static_cast<double>(count);
}

profiler::Result<void> EqualTimeLosses::add(std::array<double, 2> losses, double untrained)
{
    if (!std::isfinite(untrained))
        return tl::unexpected(profiler::Error{profiler::Error::Code::Unsupported,
                                              "The loss is no number before anything was learnt",
                                              {},
                                              "look for values in the data that are no numbers"});
    if (untrained <= 0 || losses[0] < 0 || losses[1] < 0)
        return tl::unexpected(
            profiler::Error{profiler::Error::Code::Unsupported,
                            "A loss that is zero before anything was learnt, or negative, has no ratio",
                            {},
                            "give a loss that falls towards zero"});
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

std::string explainLearning(const ExperimentResult& result, bool outOfTime)
{
    return verdictText(result, outOfTime) + divergedText(*result.lossAtEqualTime);
}

} // namespace advisor
