#pragma once

#include "advisor/rule.h"

#include <vector>

namespace advisor {

/// The loss as the run read it back.
struct LossCurve {
    profiler::TrackId counter;
    std::vector<profiler::CounterSample> samples; ///< finite or not, by time
    /// Samples that are no number, or farther above the median of the ten before them than ten times the median
    /// deviation of those, and over half of it again: what noise does not do.
    [[nodiscard]] std::vector<profiler::CounterSample> spikes() const;
    /// How much the last quarter's mean is below the quarter's before it, as a share of the latter; and two standard
    /// errors of that. No value under forty samples.
    struct Fall {
        double share = 0, error = 0;
    };
    [[nodiscard]] std::optional<Fall> lastFall() const;
};
/// Empty samples where the trace has no counter "loss".
LossCurve lossCurve(const Case& c);
std::vector<Evidence> evidenceOf(const Case& c, const LossCurve& curve,
                                 const std::vector<profiler::CounterSample>& samples);

} // namespace advisor
