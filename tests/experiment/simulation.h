#pragma once

#include "advisor/experiment/driver.h"
#include "advisor/experiment/statistics.h"

#include <cstdint>
#include <random>

/// Experiments on a simulated machine, with noise, drift and disturbances like on real ones. The driver is the real
/// one; its arms and its view of the machine are simulated.
namespace experiment_test {

/// All as standard deviations of the logarithm of a turn's speed.
struct Machine {
    const char* name = "";
    double noise = 0;     ///< independent noise of each turn
    double drift = 0;     ///< noise shared by consecutive turns: clock, heat, other programs
    double memory = 0;    ///< correlation of the drift from one turn to the next, [0, 1)
    double processes = 0; ///< of each start of a trainer: placement in memory, layout
    double outliers = 0;  ///< share of turns that another program disturbs, which makes them up to a third slower
    double seen = 0.8;    ///< share of these in which that program is visible
};
inline constexpr Machine kQuiet{"quiet", 0.004, 0.01, 0.95, 0.001, 0};
inline constexpr Machine kUsual{"usual", 0.015, 0.05, 0.9, 0.003, 0.02};
/// Quiet, but starts differ.
inline constexpr Machine kFickle{"fickle", 0.003, 0.01, 0.95, 0.015, 0};
inline constexpr Machine kNoisy{"noisy", 0.08, 0.15, 0.8, 0.005, 0.1};

/// Properties of the two arms of a simulated experiment.
struct Programs {
    double speedUp = 1;    ///< true ratio b / a of their speeds
    double lossFactor = 1; ///< true ratio b / a of their losses
    double seedNoise = 0;  ///< of the logarithm of a loss between seeds, common to both arms
    double lossNoise = 0;  ///< of each arm
};

/// One whole experiment with the driver.
advisor::ExperimentResult simulate(const Machine& machine, const Programs& programs, std::uint64_t seed,
                                   advisor::ExperimentPlan plan = {});

/// What the rules prevent: true if an A/A experiment would "pay" or "cost" if each pair counted as an observation.
bool pairsClaim(const Machine& machine, std::uint64_t seed);
/// Likewise: true if an A/A experiment's plain 95 % interval, evaluated after each pair from the fourth to the
/// twentieth, excludes 1 at any time.
bool peekingExcludesOne(const Machine& machine, std::uint64_t seed);

/// A machine without other programs.
class QuietMonitor : public advisor::MachineMonitor {
public:
    [[nodiscard]] double cores() const override { return 2; }
    void begin(std::span<const std::int64_t>) override {}
    advisor::TurnConditions end(std::span<const std::int64_t>) override { return {.seconds = 1, .ownCores = 1}; }
};

} // namespace experiment_test
