#pragma once

#include "advisor/experiment/experiment.h"

/// Estimates how long experiments take, before and while they run.
namespace advisor {

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
