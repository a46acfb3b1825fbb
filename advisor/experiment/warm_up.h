#pragma once

#include "advisor/experiment/arm.h"

#include <span>
#include <vector>

namespace advisor {

/// The warm-up of one arm.
struct WarmUp {
    double unitSeconds = 0; ///< final duration of a step (epoch, validation)
    /// Duration of a unit within a turn. For epochs and validations, it may exceed the timed part, because a program
    /// trains between its validations.
    double turnSeconds = 0;
    std::int64_t units = 0;     ///< number of timed units
    std::int64_t slow = 0;      ///< number of these before the steady ones
    double seconds = 0;         ///< total time of all units
    bool ended = true;          ///< false: the time limit was reached
    bool allocatorGrew = false; ///< peak tensor memory still grew after the first steps
};

/// Approximate maximum of the warm-up, in seconds of each arm's work. Chosen: an arm that is not steady by then (on a
/// machine with changing load) would not be steady after a minute either, and the pairs cancel drift; reaching the
/// limit is reported.
inline constexpr double kMostWarmUpSeconds = 6;

/// Lets the arms work alternately until a change-point test finds the end of each one's warm-up (see
/// profiler/analysis/steps/warm_up_end.h) or the time limit is reached. All arms do the same number of units, so that
/// they stay at the same batches.
/// @param what "steps", "epoch", "validation"
/// @param drop steps at the start of each turn that do not count
/// @param fewest minimum number of units; 0: as many as the test needs
Outcome<std::vector<WarmUp>> warmUp(std::span<Arm* const> arms, const std::string& what, std::int64_t drop,
                                    const RunLimits& bounds, std::int64_t fewest = 0);

/// Steps (epochs, validations) of a turn that lasts about `turn`; at least five steps.
std::int64_t unitsPerTurn(const std::string& what, double unitSeconds, std::chrono::duration<double> turn);

/// The first steps of a process may take this long: libraries are loaded and kernels chosen.
inline constexpr std::chrono::seconds kFirstPatience{600};
/// Maximum time for the answer to a turn with this expected duration before it counts as a hang.
std::chrono::seconds patienceFor(double expectedSeconds);

} // namespace advisor
