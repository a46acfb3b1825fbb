#pragma once

#include "advisor/experiment/experiment.h"

#include <functional>

namespace advisor {

/// What an experiment is made of, besides its plan.
struct ExperimentSetup {
    const ExperimentPlan& plan;
    Arms& arms;
    MachineMonitor& monitor;
    const std::function<void(const ExperimentProgress&)>& progress; ///< see runExperiment()
    RunLimits bounds;
};

/// The one driver of all experiments: starts arms, lets them take turns, looks at the planned times, and stops. What
/// the three objectives differ in is how one observation is made:
///   - step time: a start of both arms, which take turns in two pairs; the mean of their log ratios of speed;
///   - memory: two processes, one after the other; the log ratio of their peaks;
///   - screening: both arms train for equal time from one seed; the log ratio of the losses that they reach.
/// Looks, interval, verdicts, repeated pairs, the loss check and the reasons are the same for all of them.
profiler::Result<ExperimentResult> driveExperiment(const ExperimentSetup& setup);

} // namespace advisor
