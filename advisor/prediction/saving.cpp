#include "advisor/prediction/saving.h"

#include "advisor/advice.h"
#include "advisor/prediction/confidence.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace advisor {

namespace {

// Maximum half-width of an interval, relative to its midpoint. Chosen: a wider interval cannot distinguish a large
// saving from half of it.
constexpr double kWidest = 0.5;
// Maximum upper bound, relative to the high end of a wide interval: a higher bound is nearly a whole step and says
// nothing about the change. Chosen: the same order of magnitude.
constexpr double kLoosest = 3;
// µs: smaller values are printed as zero.
constexpr double kLeastTime = 0.005;

double leastThatShows(SavingUnit unit)
{
    return unit == SavingUnit::Bytes ? 1 : kLeastTime;
}

double meanOf(std::span<const double> values)
{
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Half-width of the confidence interval of a mean; needs at least two values, in the order of the steps. Consecutive
/// steps are correlated: if there are enough, the standard error is computed from eight batches, as in the comparison
/// of two runs.
double reachOf(std::span<const double> steps)
{
    const std::vector<double> values = batchMeans(steps);
    const auto count = static_cast<double>(values.size());
    const double mean = meanOf(values);
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return squares > 0
               ? studentTQuantile(0.5 + Saving::kCoverage / 2, count - 1) * std::sqrt(squares / (count - 1) / count)
               : 0;
}

std::string quantity(double value, SavingUnit unit)
{
    return unit == SavingUnit::Bytes ? bytesText(std::llround(value)) : timeText(value);
}

/// Uses a minus sign, not a hyphen.
std::string signedQuantity(double value, SavingUnit unit)
{
    const std::string text = quantity(value, unit);
    return text.starts_with('-') ? "−" + text.substr(1) : text;
}

/// "10.1–14.1 ms", "812 µs–1.20 ms", "−5.64 ms to 43.4 ms": a common unit is written once.
std::string rangeText(const std::string& low, const std::string& high)
{
    if (low.starts_with('-'))
        return fmt::format("−{} to {}", low.substr(1), high);
    const auto lowUnit = low.rfind(' '), highUnit = high.rfind(' ');
    const bool sameUnit = lowUnit != low.npos && highUnit != high.npos && low.substr(lowUnit) == high.substr(highUnit);
    return (sameUnit ? low.substr(0, lowUnit) : low) + "–" + high;
}

} // namespace

Saving upperBound(SavingUnit unit, double bound)
{
    Saving saving{.unit = unit, .low = 0, .mid = bound, .high = bound};
    saving.kind = SavingKind::UpperBound;
    return saving;
}

Saving upperBoundOverSteps(std::span<const double> perStepUs)
{
    return upperBound(SavingUnit::UsPerStep, meanOf(perStepUs));
}

Saving meanOverSteps(std::span<const double> leastUs, std::span<const double> mostUs)
{
    const double least = meanOf(leastUs), most = meanOf(mostUs);
    if (std::min(leastUs.size(), mostUs.size()) < 2) {
        constexpr double kAny = std::numeric_limits<double>::infinity();
        return perStep(-kAny, (least + most) / 2, kAny);
    }
    const double leastReach = reachOf(leastUs), mostReach = reachOf(mostUs);
    Saving saving = perStep(std::min(least - leastReach, most - mostReach), (least + most) / 2,
                            std::max(least + leastReach, most + mostReach));
    saving.coverage = Saving::kCoverage;
    return saving;
}

Saving limited(Saving saving, double most)
{
    if (saving.high > most)
        saving.coverage = 0; // the limit comes from this trace, and another run may exceed it
    for (double* value : {&saving.low, &saving.mid, &saving.high})
        *value = std::min(*value, most);
    return saving;
}

std::string_view savingUnitText(SavingUnit unit)
{
    switch (unit) {
    case SavingUnit::UsPerStep:
        return " per step";
    case SavingUnit::UsPerEpoch:
        return " per epoch";
    case SavingUnit::UsPerValidation:
        return " per validation";
    case SavingUnit::Bytes:
        break;
    }
    return {};
}

std::string savingAmount(const Saving& saving)
{
    const std::string low = quantity(saving.low, saving.unit), high = quantity(saving.high, saving.unit);
    if (saving.kind == SavingKind::UpperBound)
        return "at most " + high;
    return low == high ? "about " + high : rangeText(low, high);
}

std::string savingText(const Saving& saving)
{
    const std::string_view per = savingUnitText(saving.unit);
    return saving.kind == SavingKind::UpperBound ? fmt::format("At most {}{}.", quantity(saving.high, saving.unit), per)
                                                 : fmt::format("Could save {}{}.", savingAmount(saving), per);
}

void dropWidePrediction(Advice& advice, double mostUs)
{
    if (!advice.saving)
        return;
    Saving& saving = *advice.saving;
    if (advice.state == State::Fires && saving.high < leastThatShows(saving.unit)) {
        std::string title = std::move(advice.title);
        advice = silent(profiler::message<"prediction.nothing_to_save",
                                          "{reason} However, a replay of the trace without it saves nothing.">(
            {{"reason", advice.reason.text}}));
        advice.title = std::move(title);
        return;
    }
    if (saving.kind == SavingKind::UpperBound)
        return;
    const double reach = std::max(saving.high - saving.mid, saving.mid - saving.low);
    if (saving.mid > 0 && reach <= kWidest * saving.mid * (1 + 1e-9))
        return;
    const double high = std::isfinite(saving.high) ? saving.high : saving.mid;
    if (saving.unit == SavingUnit::UsPerStep && mostUs > 0 && mostUs <= kLoosest * high) {
        const double ofUs = saving.ofUs;
        saving = upperBound(saving.unit, mostUs);
        saving.ofUs = ofUs;
        return;
    }
    if (std::isfinite(saving.low) && std::isfinite(saving.high))
        advice.whyNoPrediction = profiler::message<"prediction.too_uncertain",
                                                   "Estimate too uncertain: it ranges from {low} to {high}{per}.">(
            {{"low", saving.low, signedQuantity(saving.low, saving.unit)},
             {"high", saving.high, signedQuantity(saving.high, saving.unit)},
             {"per", savingUnitText(saving.unit)}});
    else
        advice.whyNoPrediction =
            profiler::message<"prediction.one_observation",
                              "Estimate too uncertain: the trace contains it only once. Record more steps.">();
    advice.saving.reset();
}

} // namespace advisor
