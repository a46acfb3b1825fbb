#pragma once

#include "advisor/experiment/statistics.h"

#include <cstdint>

/// Experiments on a machine that exists only in numbers: noise, drift and outliers as real ones have them.
namespace experiment_test {

/// All as standard deviations of the logarithm of a turn's speed.
struct Machine {
    double noise = 0;     ///< of each turn by itself
    double drift = 0;     ///< of what is common to neighbouring turns: clock, heat, other programs
    double memory = 0;    ///< correlation of the drift from one turn to the next, [0, 1)
    double processes = 0; ///< of each start of a trainer: placement in memory, layout
    double outliers = 0;  ///< share of turns that something disturbs, which makes them up to a third slower
};
inline constexpr Machine kQuiet{0.004, 0.01, 0.95, 0.001, 0};
inline constexpr Machine kUsual{0.015, 0.05, 0.9, 0.003, 0.02};
inline constexpr Machine kFickle{0.003, 0.01, 0.95, 0.015, 0}; ///< quiet, but each start is another
inline constexpr Machine kNoisy{0.08, 0.15, 0.8, 0.005, 0.1};

struct Simulated {
    advisor::Verdict verdict;
    advisor::Interval ratio;
    std::size_t pairs;
};
/// One whole experiment, by the rules of statistics.h and the experiment's order of turns.
Simulated simulate(const Machine& machine, double trueRatio, std::uint64_t seed);

/// What the rules prevent: true when an A/A would "pay" or "cost" if each pair counted as an observation of its own.
bool pairsClaim(const Machine& machine, std::uint64_t seed);
/// And this: true when an A/A's plain 95 % interval, looked at after each pair from the fourth to the twentieth,
/// excludes 1 at any time.
bool peekingExcludesOne(const Machine& machine, std::uint64_t seed);

} // namespace experiment_test
