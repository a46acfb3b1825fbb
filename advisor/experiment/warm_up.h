#pragma once

#include "advisor/experiment/arm.h"

#include <span>
#include <vector>

namespace advisor {

/// How one arm warmed up.
struct WarmUp {
    double unitSeconds = 0; ///< of a step (epoch, validation) in the end
    /// What a turn takes for each of its units. Of epochs and validations it may be more than the timed part: a program
    /// trains between its validations.
    double turnSeconds = 0;
    std::int64_t units = 0;     ///< timed ones that were done
    std::int64_t slow = 0;      ///< of these, before the steady ones
    double seconds = 0;         ///< spent on all of them
    bool ended = true;          ///< false: the time limit was reached
    bool allocatorGrew = false; ///< the most memory that tensors held still grew after the first steps
};

/// A warm-up takes at most about so many seconds of each arm's work. Chosen: what has not become steady then (a machine
/// with changing load) would not do so in a minute either, and the pairs cancel what drifts; reaching it is reported.
inline constexpr double kMostWarmUpSeconds = 6;

/// Lets the arms work alternately until a change-point test finds the end of each one's warm-up (see
/// profiler/analysis/steps/warm_up_end.h), or the time limit is reached. All do the same number of units, so that they
/// stay at the same batches.
/// @param what    "steps", "epoch", "validation"
/// @param drop    steps that do not count at the start of each turn
/// @param fewest  units that are done at least; 0: as many as the test needs
Outcome<std::vector<WarmUp>> warmUp(std::span<Arm* const> arms, const std::string& what, std::int64_t drop,
                                    const RunLimits& bounds, std::int64_t fewest = 0);

/// Steps (epochs, validations) of a turn that lasts about `turn`; at least five steps.
std::int64_t unitsPerTurn(const std::string& what, double unitSeconds, std::chrono::duration<double> turn);

/// The first steps of a process may take this long: libraries are loaded and kernels chosen.
inline constexpr std::chrono::seconds kFirstPatience{600};
/// An answer to a turn of so much work may take this long before it counts as a hang.
std::chrono::seconds patienceFor(double expectedSeconds);

} // namespace advisor
