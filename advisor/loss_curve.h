#pragma once

#include "advisor/rule.h"

#include <vector>

namespace advisor {

/// The loss as the run read it back.
struct LossCurve {
    profiler::TrackId counter;
    std::vector<profiler::CounterSample> samples; ///< finite or not, by time
    /// Samples that are no number; and those farther above the median of the ten before them than ten times the median
    /// deviation of those, and over half of it again, which at least two of the three after them are as well: what
    /// neither noise nor a batch of hard samples does.
    [[nodiscard]] std::vector<profiler::CounterSample> spikes() const;
    /// Samples. Plateaus that are shorter than a quarter of this are left again: of chance, of the tokens' frequencies.
    static constexpr std::size_t kLeastToJudge = 400;
    /// How much the last quarter's mean is below the quarter's before it, as a share of the latter; and two standard
    /// errors of that. No value under kLeastToJudge samples.
    struct Fall {
        double share = 0, error = 0;
    };
    [[nodiscard]] std::optional<Fall> lastFall() const;
    /// The last quarter's mean lies so far below the first twentieth's, as a share of the latter. No value as above.
    [[nodiscard]] std::optional<double> wholeFall() const;
};
/// What the loss says to a rule about a setting that clips gradients: a finding where values stand out, with those as
/// evidence, judged by the loss; silent where none does or the setting is on; cannot tell without loss or
/// configuration.
Advice adviseOnSpikes(const RuleContext& c, config::key::Real clip);
/// Empty samples where the trace has no counter "loss".
LossCurve lossCurve(const RuleContext& c);
std::vector<Evidence> evidenceOf(const RuleContext& c, const LossCurve& curve,
                                 const std::vector<profiler::CounterSample>& samples);

} // namespace advisor
