#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/experiment/turn_order.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

/// When an experiment evaluates its data, and what it may conclude. One design for all objectives.
///
/// Each start of a process lays out its memory differently, which makes it slightly faster or slower for its whole
/// lifetime, independent of its settings (Mytkowicz et al., Producing wrong data without doing anything obviously
/// wrong, ASPLOS 2009). All pairs of one start share this effect. Therefore both arms are restarted every two pairs,
/// and the mean of a start's pairs is one observation (Kalibera and Jones, Rigorous benchmarking in reasonable time,
/// ISMM 2013). For memory, an observation is a pair of fresh processes; in a screening, it is a seed. Each of these
/// counts as the two pairs of a start: looks are after 3, 6 and 10 observations.
///
/// Repeated looks until an interval clears would eventually find a difference where there is none. Therefore there are
/// three planned looks, each at α = 0.0221: together, their error rate is at most 5 %. Source: Pocock, Group sequential
/// methods in the design and analysis of clinical trials, Biometrika 64 (1977), constant for three looks. Drift that
/// affects both arms equally cancels within a pair: the average is taken over the logarithms of the pairs' ratios.
namespace advisor {

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

} // namespace advisor
