#pragma once

#include "advisor/experiment/experiment.h"

#include <functional>

namespace advisor {

/// The input of an experiment in addition to its plan.
struct ExperimentSetup {
    const ExperimentPlan& plan;
    Arms& arms;
    MachineMonitor& monitor;
    const std::function<void(const ExperimentProgress&)>& progress; ///< see runExperiment()
    RunLimits limits;
};

/// The single driver of all experiments: starts arms, lets them take turns, evaluates the data at the planned looks,
/// and stops. The three objectives differ in what one observation is:
/// - step time: one start of both arms, which take turns in two pairs; the mean of their log ratios of speed;
/// - memory: two processes, one after the other; the log ratio of their peaks;
/// - screening: both arms train for equal time with one seed; the log ratio of their final losses.
/// Looks, intervals, verdicts, repeated pairs, the loss check and the reasons are the same for all of them.
profiler::Result<ExperimentResult> driveExperiment(const ExperimentSetup& setup);

} // namespace advisor
