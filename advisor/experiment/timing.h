#pragma once

#include "advisor/experiment/arm.h"
#include "advisor/experiment/experiment.h"

#include <span>
#include <vector>

/// How long the parts of an experiment take: the warm-up of the arms, a turn, and the whole experiment.
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
/// profiler/analysis/steps/warm_up.h) or the time limit is reached. All arms do the same number of units, so that
/// they stay at the same batches.
/// @param what "steps", "epoch", "validation"
/// @param drop steps at the start of each turn that do not count
/// @param fewest minimum number of units; 0: as many as the test needs
Outcome<std::vector<WarmUp>> warmUp(std::span<Arm* const> arms, const std::string& what, std::int64_t drop,
                                    const RunLimits& limits, std::int64_t fewest = 0);

/// Steps (epochs, validations) of a turn that lasts about `turn`; at least five steps.
std::int64_t unitsPerTurn(const std::string& what, double unitSeconds, std::chrono::duration<double> turn);

/// The first steps of a process may take this long: libraries are loaded and kernels chosen.
inline constexpr std::chrono::seconds kFirstPatience{600};
/// Maximum time for the answer to a turn with this expected duration before it counts as a hang.
std::chrono::seconds patienceFor(double expectedSeconds);

// Estimates how long experiments take, before and while they run.

/// Starting both trainers, from experience: loading LibTorch and indexing the dataset.
inline constexpr double kStartSeconds = 2;

/// For the objective step time.
/// @param unitSeconds duration of a baseline step (epoch, validation); 0: unknown
double estimatedSeconds(const ExperimentPlan& plan, double unitSeconds, std::size_t pairs);

/// For the objective memory: a pair is two processes of a few steps each.
/// @param pairs 0: until the first look, at which most experiments end
double estimatedMemorySeconds(const ExperimentPlan& plan, double stepSeconds, std::size_t pairs);

/// How long both arms of a screening train per seed, in seconds.
/// @param stepSeconds of the slower arm
/// @param trainingSeconds of the baseline's whole training run; 0: unknown
/// @param overheadSeconds per seed in addition to training: starts, warm-up, validations
double horizonSeconds(const ExperimentPlan& plan, double stepSeconds, double trainingSeconds, double overheadSeconds);

/// Untimed and timed steps of a process whose peak memory is measured. The first steps allocate the optimizer state;
/// memory use peaks after a few steps.
inline constexpr std::int64_t kMemoryWarmUpSteps = 5, kMemorySteps = 5;

} // namespace advisor
