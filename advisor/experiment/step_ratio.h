#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

/// Ratios of the step durations of two runs, with 95 % intervals. Steps that follow each other resemble each other
/// (clocks, caches, other programs), so single steps promise more than they know: where there are enough of them, the
/// spread is taken from eight batches of neighbours (Law, Simulation Modeling and Analysis, 9.5.3, batch means), of two
/// steps or more for means and of five or more for medians, since the median of fewer follows a single slow step. Steps
/// of one run are still not independent runs: a difference of a few percent between two runs is shown by an experiment,
/// not by this.
namespace advisor {

/// A ratio a / b: above 1, b is faster.
struct StepRatio {
    double a = 0, b = 0; ///< what the ratio is of, in µs
    /// 95 %. Nothing where the steps do not show how far chance reaches: fewer than two, or fewer than five equal ones.
    std::optional<std::pair<double, double>> ci95;

    [[nodiscard]] double ratio() const { return b > 0 ? a / b : 0; }
};

/// Durations are in µs, in the order of the steps, and above 0. All three return zeros for empty input.

/// Mean over mean. Interval: Student's t (Welch's degrees of freedom) on the logarithm, by the delta method.
StepRatio ratioOfMeans(const std::vector<double>& a, const std::vector<double>& b);

/// Median over median. Interval on the logarithm, from order statistics: Price and Bonett, Distribution-free confidence
/// intervals for difference and ratio of medians, J. Statist. Comput. Simul. 72 (2002); with Student's t in place of
/// the normal quantile, which in simulation errs in up to 10 % of cases with two to five steps, and t in at most 5 %.
StepRatio ratioOfMedians(const std::vector<double>& a, const std::vector<double>& b);

/// Geometric mean over geometric mean of steps that form pairs: what both runs share in a step (its batch) cancels.
/// Interval: Student's t on the logarithms of the pairs' ratios.
StepRatio pairedRatio(std::span<const std::pair<double, double>> pairs);

} // namespace advisor
