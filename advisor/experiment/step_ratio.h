#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Ratios of the step durations of two runs, with 95 % intervals. Consecutive steps are correlated (clocks, caches,
/// other programs), so intervals from single steps would be too narrow: if there are enough steps, the standard error
/// is computed from eight batches of consecutive steps (Law, Simulation Modeling and Analysis, 9.5.3, batch means), of
/// at least two steps for means and at least five for medians, because the median of fewer steps depends on a single
/// slow step. Even so, the steps of one run are not independent runs: a difference of a few percent between two runs
/// needs an experiment.
namespace advisor {

/// A ratio a / b: above 1, b is faster.
struct StepRatio {
    double a = 0, b = 0; ///< the two values of the ratio, in µs
    /// 95 %. No value if the steps are too few for an interval: fewer than two, or fewer than five equal ones.
    std::optional<std::pair<double, double>> ci95;

    [[nodiscard]] double ratio() const { return b > 0 ? a / b : 0; }
};

/// Durations are in µs, in the order of the steps, and above 0. All three functions return zeros for empty input.

/// Ratio of means. Interval: Student's t (Welch's degrees of freedom) on the logarithm, by the delta method.
StepRatio ratioOfMeans(const std::vector<double>& a, const std::vector<double>& b);

/// Ratio of medians. Interval on the logarithm, from order statistics: Price and Bonett, Distribution-free confidence
/// intervals for difference and ratio of medians, J. Statist. Comput. Simul. 72 (2002); with Student's t instead of the
/// normal quantile: in simulations with two to five steps, the normal quantile has an error rate of up to 10 %, and t
/// of at most 5 %.
StepRatio ratioOfMedians(const std::vector<double>& a, const std::vector<double>& b);

/// Ratio of geometric means of paired steps: effects that both runs share in a step (its batch) cancel. Interval:
/// Student's t on the logarithms of the pairs' ratios.
StepRatio pairedRatio(std::span<const std::pair<double, double>> pairs);

} // namespace advisor
