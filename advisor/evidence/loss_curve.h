#pragma once

#include "advisor/rule.h"

#include <vector>

namespace advisor {

/// The loss values that the run read back.
struct LossCurve {
    profiler::TrackId counter;
    std::vector<profiler::CounterSample> samples; ///< finite or not, sorted by time
    /// Samples that are NaN or infinite, and outliers: samples that exceed the median of the ten samples before them by
    /// more than ten median absolute deviations and by more than half of the median, as do at least two of the next
    /// three samples. Neither noise nor a batch of hard samples causes this.
    [[nodiscard]] std::vector<profiler::CounterSample> spikes() const;
    /// Minimum number of samples. Plateaus shorter than a quarter of this may end again; they occur by chance or
    /// because of token frequencies.
    static constexpr std::size_t kFewestSamples = 400;
    /// Decrease of the mean from the third to the last quarter, relative to the third quarter, and two standard errors
    /// of it. No value with fewer than kFewestSamples samples.
    struct Fall {
        double share = 0, error = 0;
    };
    [[nodiscard]] std::optional<Fall> lastFall() const;
    /// Decrease of the mean from the first twentieth to the last quarter, relative to the former. No value in the same
    /// cases.
    [[nodiscard]] std::optional<double> totalFall() const;
};
/// The verdict of a rule about gradient clipping, from the loss: fires if there are spikes, with these as evidence and
/// the loss as the objective; silent if there are none or the setting is on; cannot tell without a loss or a
/// configuration.
Advice adviseOnSpikes(const RuleContext& c, config::key::Real clip);
/// Empty samples if the trace has no counter "loss".
LossCurve lossCurve(const RuleContext& c);
std::vector<Evidence> evidenceOf(const RuleContext& c, const LossCurve& curve,
                                 const std::vector<profiler::CounterSample>& samples);

} // namespace advisor
