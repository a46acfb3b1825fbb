#pragma once

#include "advisor/experiment/driver.h"
#include "advisor/experiment/statistics.h"

#include <cstdint>
#include <random>

/// Experiments on a machine that exists only in numbers, with noise, drift and disturbances as real ones have them. The
/// driver is the real one; its arms and its view of the machine are simulated.
namespace experiment_test {

/// All as standard deviations of the logarithm of a turn's speed.
struct Machine {
    const char* name = "";
    double noise = 0;     ///< of each turn by itself
    double drift = 0;     ///< of what is common to neighbouring turns: clock, heat, other programs
    double memory = 0;    ///< correlation of the drift from one turn to the next, [0, 1)
    double processes = 0; ///< of each start of a trainer: placement in memory, layout
    double outliers = 0;  ///< share of turns that another program disturbs, which makes them up to a third slower
    double seen = 0.8;    ///< share of these in which that program is seen
};
inline constexpr Machine kQuiet{"quiet", 0.004, 0.01, 0.95, 0.001, 0};
inline constexpr Machine kUsual{"usual", 0.015, 0.05, 0.9, 0.003, 0.02};
/// Quiet, but each start differs.
inline constexpr Machine kFickle{"fickle", 0.003, 0.01, 0.95, 0.015, 0};
inline constexpr Machine kNoisy{"noisy", 0.08, 0.15, 0.8, 0.005, 0.1};

/// What the two arms of a simulated experiment are like.
struct Programs {
    double speedUp = 1;    ///< true ratio b / a of their speeds
    double lossFactor = 1; ///< true ratio b / a of their losses
    double seedNoise = 0;  ///< of the logarithm of a loss from seed to seed, in both arms alike
    double lossNoise = 0;  ///< of each arm by itself
};

/// One whole experiment by the driver.
advisor::ExperimentResult simulate(const Machine& machine, const Programs& programs, std::uint64_t seed,
                                   advisor::ExperimentPlan plan = {});

/// What the rules prevent: true when an A/A would "pay" or "cost" if each pair counted as an observation of its own.
bool pairsClaim(const Machine& machine, std::uint64_t seed);
/// And this: true when an A/A's plain 95 % interval, looked at after each pair from the fourth to the twentieth,
/// excludes 1 at any time.
bool peekingExcludesOne(const Machine& machine, std::uint64_t seed);

/// A machine on which nothing else runs.
class QuietMonitor : public advisor::MachineMonitor {
public:
    [[nodiscard]] double cores() const override { return 2; }
    void begin(std::span<const std::int64_t>) override {}
    advisor::TurnConditions end(std::span<const std::int64_t>) override { return {.seconds = 1, .ownCores = 1}; }
};

} // namespace experiment_test
