#pragma once

#include "advisor/experiment/experiment.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

/// When an experiment is looked at, and what may then be said.
///
/// A start of a process lays its memory out anew, which makes it a little faster or slower for as long as it lives,
/// whatever it is told to do (Mytkowicz et al., Producing wrong data without doing anything obviously wrong, ASPLOS
/// 2009). The pairs of one start share that; so both trainers are started anew every two pairs, and the mean of a
/// start's pairs is what counts as one observation (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM
/// 2013).
///
/// Looking again and again until an interval clears would find a difference in the end where there is none. So there
/// are three planned looks, each at α = 0.0221: together they err at most one time in twenty. Source: Pocock, Group
/// sequential methods in the design and analysis of clinical trials, Biometrika 64 (1977), constant for three looks.
/// What drifts in both arms alike cancels in a pair, so that what is averaged is the logarithm of each pair's ratio.
namespace advisor {

/// Pairs after which it is looked; the last ends the experiment.
inline constexpr std::array<std::size_t, 3> kLooks = {6, 12, 20};
inline constexpr double kLookAlpha = 0.0221;
/// "Pays" and "costs" must clear this: one percent is within what an idle machine does by itself.
inline constexpr double kWorth = 1.01;
/// An interval that reaches further than this in the end leaves open whether a gain is there that matters.
inline constexpr double kMissed = 1.05;

/// Mean of the log ratios of each start's pairs; a start that was cut short does not count.
std::vector<double> startMeans(const std::vector<Pair>& pairs);

/// Geometric mean of the ratios with its two-sided interval of Student's t at 1 − alpha. With the looks' alpha it is
/// the 95 % interval of the whole procedure, whenever that ended. At least two values; with fewer the interval is
/// unbounded.
Interval ratioInterval(std::span<const double> logRatios, double alpha = kLookAlpha);

/// The first look is due after `pairs` pairs, or a later one.
bool isLook(std::size_t pairs);

/// What a look settles; nothing: go on.
/// @param ratio  above 1 the change is better
/// @param last   there will be no other look
std::optional<Verdict> decide(const Interval& ratio, bool last);

} // namespace advisor
