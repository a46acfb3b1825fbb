#include "advisor/experiment/experiment_run.h"

#include "advisor/experiment/statistics.h"

#include <cmath>
#include <fmt/format.h>

namespace advisor {

namespace {

double geometricMean(const std::vector<Pair>& pairs, double Pair::*arm)
{
    double sum = 0;
    for (const Pair& pair : pairs)
        sum += std::log(pair.*arm);
    return std::exp(sum / static_cast<double>(pairs.size()));
}

std::string pairsText(const ExperimentResult& result)
{
    return fmt::format("in {} pair{}", result.pairs.size(), result.pairs.size() == 1 ? "" : "s");
}

std::string withoutGain(const ExperimentResult& result)
{
    const Interval& ratio = result.samplesPerSecond;
    if (ratio.low >= 1 / kWorth && ratio.high <= kWorth)
        return fmt::format("No difference of one percent or more: {} × the samples per second {}.", intervalText(ratio),
                           pairsText(result));
    return fmt::format("No gain of more than one percent is shown: {} × the samples per second {}.",
                       intervalText(ratio), pairsText(result));
}

std::string undecided(const ExperimentResult& result, bool outOfTime)
{
    if (result.pairs.empty())
        return "The time was over before two pairs were measured.";
    if (outOfTime && result.pairs.size() < kLooks.front())
        return fmt::format("The time was over after {} pairs: before the first look, which is after {}.",
                           result.pairs.size(), kLooks.front());
    if (outOfTime)
        return fmt::format("The time was over after {} of at most {} pairs: {} × the samples per second.",
                           result.pairs.size(), kLooks.back(), intervalText(result.samplesPerSecond));
    return fmt::format("The machine is too restless to tell: {} × the samples per second {}.",
                       intervalText(result.samplesPerSecond), pairsText(result));
}

} // namespace

std::optional<std::string> PreparingTold::text(const config::protocol::Preparing& preparing)
{
    constexpr std::chrono::milliseconds every{200};
    const auto now = Bounds::Clock::now();
    if (now - m_told < every)
        return std::nullopt;
    m_told = now;
    return preparing.total > 0 ? fmt::format("{}: {} of {}", preparing.what, preparing.done, preparing.total)
                               : preparing.what;
}

double ExperimentRun::secondsSpent() const
{
    return std::chrono::duration<double>(Bounds::Clock::now() - begin).count();
}

void ExperimentRun::tell(const ExperimentProgress& state) const
{
    if (!progress)
        return;
    ExperimentProgress now = state;
    now.judgedBy = plan.judgedBy;
    now.secondsSpent = secondsSpent();
    if (bounds.deadline != Bounds::Clock::time_point::max()) {
        const double left = std::chrono::duration<double>(bounds.deadline - Bounds::Clock::now()).count();
        now.secondsLeft = std::max(0.0, std::min(now.secondsLeft, left));
    }
    progress(now);
}

void setSpeeds(ExperimentResult& result, std::span<const double> observations)
{
    if (result.pairs.empty())
        return;
    result.samplesPerSecondA = geometricMean(result.pairs, &Pair::a);
    result.samplesPerSecondB = geometricMean(result.pairs, &Pair::b);
    result.samplesPerSecond = ratioInterval(observations);
    result.samplesPerSecond.value = result.samplesPerSecondB / result.samplesPerSecondA;
}

void setSavedTime(ExperimentResult& result)
{
    const auto saved = [&](double ratio) { return result.unitUsA * (1 - 1 / ratio); };
    const Interval& ratio = result.samplesPerSecond;
    if (!result.pairs.empty())
        result.savedUs = {saved(ratio.value), saved(ratio.low), saved(ratio.high)};
}

std::string intervalText(const Interval& interval)
{
    return fmt::format("{:.3g} (95 % interval {:.3g}–{:.3g})", interval.value, interval.low, interval.high);
}

std::string explain(const ExperimentResult& result, bool outOfTime)
{
    const std::string ratio =
        fmt::format("{} × the samples per second {}", intervalText(result.samplesPerSecond), pairsText(result));
    const auto loss = [&](std::string_view difference) {
        return fmt::format("the loss {} ({:.4g} against {:.4g} over the same batches)", difference, result.lossB,
                           result.lossA);
    };
    if (!result.lossParity && result.samplesPerSecond.low > kWorth)
        return fmt::format("Faster, {}, but {}.", ratio, loss("differs"));
    if (result.verdict == Verdict::Pays)
        return result.lossTolerance > 0 ? fmt::format("Faster: {}; {}.", ratio, loss("agrees"))
                                        : fmt::format("Faster: {}.", ratio);
    if (result.verdict == Verdict::Costs)
        return fmt::format("Slower: {}.", ratio);
    return result.verdict == Verdict::DoesNotPay ? withoutGain(result) : undecided(result, outOfTime);
}

} // namespace advisor
