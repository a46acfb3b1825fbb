#pragma once

#include "advisor/experiment/experiment.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// The design and the statistics of experiments: the order of the turns, when the data is evaluated and what it may
/// show, and intervals for the ratio of two runs. Arm 0 is the baseline (A), arm 1 the change (B).
namespace advisor {

/// Pairs per start of both trainers, A B B A: steady drift affects both arms equally.
inline constexpr std::size_t kPairsPerStart = 2;

/// A B B A A B B A …
constexpr std::array<std::size_t, 2> turnOrder(std::size_t pair)
{
    return pair % 2 == 0 ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{1, 0};
}

/// Both trainers are restarted before this pair.
constexpr bool startsFresh(std::size_t pair)
{
    return pair % kPairsPerStart == 0;
}

// When an experiment evaluates its data, and what it may conclude. One design for all objectives.
//
// Each start of a process lays out its memory differently, which makes it slightly faster or slower for its whole
// lifetime, independent of its settings (Mytkowicz et al., Producing wrong data without doing anything obviously
// wrong, ASPLOS 2009). All pairs of one start share this effect. Therefore both arms are restarted every two pairs,
// and the mean of a start's pairs is one observation (Kalibera and Jones, Rigorous benchmarking in reasonable time,
// ISMM 2013). For memory, an observation is a pair of fresh processes; in a screening, it is a seed. Each of these
// counts as the two pairs of a start: looks are after 3, 6 and 10 observations.
//
// Repeated looks until an interval clears would eventually find a difference where there is none. Therefore there are
// three planned looks, each at α = 0.0221: together, their error rate is at most 5 %. Source: Pocock, Group sequential
// methods in the design and analysis of clinical trials, Biometrika 64 (1977), constant for three looks. Drift that
// affects both arms equally cancels within a pair: the average is taken over the logarithms of the pairs' ratios.

/// Numbers of pairs at which there is a look; the last one ends the experiment.
inline constexpr std::array<std::size_t, 3> kLooks = {6, 12, 20};
inline constexpr double kLookAlpha = 0.0221;
/// Minimum effect: "pays" and "costs" must clear it. An idle machine varies by one percent by itself (measured).
inline constexpr double kMinimumEffect = 1.01;
/// Futility bound: if an interval ends above it at the last look, a relevant gain is still possible.
inline constexpr double kFutilityBound = 1.05;

/// Mean of the log ratios of each start's pairs; incomplete starts do not count.
std::vector<double> startMeans(const std::vector<Pair>& pairs, std::size_t pairsPerStart = kPairsPerStart);

/// Geometric mean of the ratios with its two-sided Student's t interval at 1 − alpha. With the looks' alpha, it is the
/// 95 % interval of the whole procedure, whenever it ended. At least two values; with fewer, the interval is unbounded.
Interval ratioInterval(std::span<const double> logRatios, double alpha = kLookAlpha);

/// The same for the ratios of pairs, whose observations are the means of the starts (startMeans). The variance of a
/// start's mean is at least that of independent pairs: few starts may agree by chance although their pairs do not, and
/// an interval from three such means would be far too narrow (measured: two of twenty A/A experiments claimed a
/// difference at the first look).
Interval pairedInterval(const std::vector<Pair>& pairs, std::size_t pairsPerStart = kPairsPerStart,
                        double alpha = kLookAlpha);

/// True if a look is due after `pairs` pairs.
bool isLook(std::size_t pairs);

/// The verdict of a look; no value: continue.
/// @param ratio above 1 the change is better
/// @param last there is no further look
std::optional<Verdict> decide(const Interval& ratio, bool last);

// Ratios of the step durations of two runs, with 95 % intervals. Consecutive steps are correlated (clocks, caches,
// other programs), so intervals from single steps would be too narrow: if there are enough steps, the standard error
// is computed from eight batches of consecutive steps (Law, Simulation Modeling and Analysis, 9.5.3, batch means), of
// at least two steps for means and at least five for medians, because the median of fewer steps depends on a single
// slow step. Even so, the steps of one run are not independent runs: a difference of a few percent between two runs
// needs an experiment.

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
