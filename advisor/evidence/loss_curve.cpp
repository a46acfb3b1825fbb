#include "advisor/evidence/loss_curve.h"

#include "advisor/verdict.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <span>

namespace advisor {

using namespace profiler;
using profiler::analysis::percentile;

namespace {

// Number of preceding samples that a sample is compared with. Chosen: the smallest number for which the median absolute
// deviation is stable, and small enough that the loss hardly falls over these samples.
constexpr std::size_t kBefore = 10;
// Minimum distance from the median in median absolute deviations, and as a share of the median. Chosen: ten deviations
// are 6.7 standard deviations of normal noise, which hardly ever happens by chance; a loss that is 1.5 times as large
// is a spike that a user notices.
constexpr double kDeviations = 10, kAbove = 0.5;
// The effect of a batch of hard samples ends with the next batch; after weights have been thrown off, the loss stays
// high for some steps.
constexpr std::size_t kAfter = 4;
constexpr std::ptrdiff_t kLasting = 3;

struct Moments {
    double mean = 0, variance = 0;
};

Moments moments(std::span<const CounterSample> samples)
{
    Moments result;
    const auto n = static_cast<double>(samples.size());
    for (const CounterSample& sample : samples)
        result.mean += sample.value / n;
    for (const CounterSample& sample : samples)
        result.variance += (sample.value - result.mean) * (sample.value - result.mean) / (n - 1);
    return result;
}

/// The limit that noise does not exceed, from the preceding values.
double farAbove(std::span<const CounterSample> samples)
{
    std::vector<double> before, deviations;
    for (const CounterSample& sample : samples)
        if (std::isfinite(sample.value))
            before.push_back(sample.value);
    if (before.empty())
        return std::numeric_limits<double>::infinity();
    const double middle = percentile(before, 0.5);
    for (const double value : before)
        deviations.push_back(std::abs(value - middle));
    return middle + std::max(kDeviations * percentile(std::move(deviations), 0.5), kAbove * std::abs(middle));
}

} // namespace

std::vector<CounterSample> LossCurve::spikes() const
{
    std::vector<CounterSample> found;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!std::isfinite(samples[i].value)) {
            found.push_back(samples[i]);
            continue;
        }
        if (i < kBefore)
            continue;
        const double far = farAbove(std::span(samples).subspan(i - kBefore, kBefore));
        const auto next = std::span(samples).subspan(i, std::min(kAfter, samples.size() - i));
        const auto isFar = [&](const CounterSample& sample) { return !(sample.value <= far); };
        if (isFar(next.front()) && std::count_if(next.begin(), next.end(), isFar) >= kLasting)
            found.push_back(samples[i]);
    }
    return found;
}

std::optional<LossCurve::Fall> LossCurve::lastFall() const
{
    const std::size_t n = samples.size(), quarter = n / 4;
    if (n < kFewestSamples)
        return std::nullopt;
    const Moments before = moments(std::span(samples).subspan(n - 2 * quarter, quarter));
    const Moments last = moments(std::span(samples).subspan(n - quarter, quarter));
    if (!std::isfinite(before.mean) || !std::isfinite(last.mean) || before.mean == 0)
        return std::nullopt;
    const double error = 2 * std::sqrt((before.variance + last.variance) / static_cast<double>(quarter));
    return Fall{(before.mean - last.mean) / std::abs(before.mean), error / std::abs(before.mean)};
}

std::optional<double> LossCurve::totalFall() const
{
    const std::size_t n = samples.size();
    if (n < kFewestSamples)
        return std::nullopt;
    const double first = moments(std::span(samples).first(n / 20)).mean;
    const double last = moments(std::span(samples).last(n / 4)).mean;
    if (!std::isfinite(first) || !std::isfinite(last) || first == 0)
        return std::nullopt;
    return (first - last) / std::abs(first);
}

LossCurve lossCurve(const RuleContext& c)
{
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Counter && track.name == "loss")
            return {track.id, c.trace.counter(track.id)};
    return {};
}

std::vector<Evidence> evidenceOf(const RuleContext& c, const LossCurve& curve,
                                 const std::vector<CounterSample>& samples)
{
    std::vector<Evidence> evidence;
    const TimeRange all = c.trace.range();
    for (const CounterSample& sample : samples)
        if (evidence.size() < kMostEvidence) {
            const TraceTime at = std::clamp(sample.time, all.begin, all.end);
            evidence.push_back({.track = curve.counter, .slice = std::nullopt, .range = {at, at}, .name = "loss"});
        }
    return evidence;
}

Advice adviseOnSpikes(const RuleContext& c, config::key::Real clip)
{
    const LossCurve curve = lossCurve(c);
    if (curve.samples.empty())
        return cannotTell(message<"loss.not_recorded", "The trace does not record the loss.">(), Need::Loss);
    if (!c.config)
        return cannotTell(message<"loss.no_configuration",
                                  "The trace contains no configuration: whether gradients are clipped is unknown.">(),
                          Need::Program);
    if ((*c.config)[clip] > 0)
        return silent(message<"loss.clipped", "Gradients are already clipped.">());
    const auto spikes = curve.spikes();
    if (spikes.empty())
        return silent(
            message<"loss.no_spikes", "None of {values} loss values is a spike.">({{"values", curve.samples.size()}}));
    Advice advice = firesOnLearning(message<"loss.spikes", "{spikes} of {values} loss values are spikes.">(
        {{"spikes", spikes.size()}, {"values", curve.samples.size()}}));
    advice.evidence = evidenceOf(c, curve, spikes);
    return advice;
}

} // namespace advisor
