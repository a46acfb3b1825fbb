#pragma once

#include "advisor/experiment/experiment.h"

/// How long experiments take, estimated before and while they run.
namespace advisor {

/// A start of both trainers, by experience: LibTorch and the data set's index.
inline constexpr double kStartSeconds = 2;

/// Judged by step time.
/// @param unitSeconds  of a baseline's step (epoch, validation); 0: not known
double estimatedSeconds(const ExperimentPlan& plan, double unitSeconds, std::size_t pairs);

/// Judged by memory: a pair is two processes of a few steps each.
/// @param pairs  0: until the first look, at which most end
double estimatedMemorySeconds(const ExperimentPlan& plan, double stepSeconds, std::size_t pairs);

/// How long both arms of a screening train from each seed, in seconds.
/// @param stepSeconds      of the slower arm
/// @param trainingSeconds  of the baseline's whole training; 0: not known
/// @param overheadSeconds  of each seed besides its training: starts, warm-up, validations
double horizonSeconds(const ExperimentPlan& plan, double stepSeconds, double trainingSeconds, double overheadSeconds);

/// Untimed and timed steps of a process whose peak memory is measured. The first ones allocate what the optimizer
/// keeps; memory is at its highest after a few.
inline constexpr std::int64_t kMemoryWarmUpSteps = 5, kMemorySteps = 5;

} // namespace advisor
