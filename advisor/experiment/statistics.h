#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/experiment/turn_order.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

/// When an experiment looks at its data, and what it may then say. One design for all objectives.
///
/// A start of a process lays out its memory anew, which makes it a little faster or slower for as long as it lives,
/// whatever its settings are (Mytkowicz et al., Producing wrong data without doing anything obviously wrong, ASPLOS
/// 2009). The pairs of one start share that; so both arms are started anew every two pairs, and the mean of a start's
/// pairs is one observation (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013). Where memory is
/// measured, an observation is a pair of fresh processes; in a screening it is a seed. They count as the two pairs that
/// others get from a start: looks come after 3, 6 and 10 observations.
///
/// Looking again and again until an interval clears finds a difference in the end where there is none. So there are
/// three planned looks, each at α = 0.0221: together they err at most one time in twenty. Source: Pocock, Group
/// sequential methods in the design and analysis of clinical trials, Biometrika 64 (1977), constant for three looks.
/// What drifts in both arms alike cancels in a pair: the logarithm of each pair's ratio is what is averaged.
namespace advisor {

/// Pairs after which there is a look; the last one ends the experiment.
inline constexpr std::array<std::size_t, 3> kLooks = {6, 12, 20};
inline constexpr double kLookAlpha = 0.0221;
/// Minimum effect: "pays" and "costs" must clear this. One percent is what an idle machine varies by itself (measured).
inline constexpr double kWorth = 1.01;
/// Futility bound: an interval that ends above this at the last look leaves open whether there is a gain that matters.
inline constexpr double kFutilityBound = 1.05;

/// Mean of the log ratios of each start's pairs; a start that was cut short does not count.
std::vector<double> startMeans(const std::vector<Pair>& pairs, std::size_t pairsPerStart = kPairsPerStart);

/// Geometric mean of the ratios with its two-sided interval of Student's t at 1 − alpha. With the looks' alpha it is
/// the 95 % interval of the whole procedure, whenever that ended. At least two values; with fewer the interval is
/// unbounded.
Interval ratioInterval(std::span<const double> logRatios, double alpha = kLookAlpha);

/// A look is due after `pairs` pairs.
bool isLook(std::size_t pairs);

/// What a look settles; nothing: go on.
/// @param ratio  above 1 the change is better
/// @param last   there will be no other look
std::optional<Verdict> decide(const Interval& ratio, bool last);

} // namespace advisor
