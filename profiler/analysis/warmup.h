#pragma once

#include "profiler/analysis/steps.h"

#include <vector>

namespace profiler::analysis {

/// Sets Step::warmup, and Step::partial of a last step, as steps.h describes it.
/// @param epochStart   for each step: it is the first of an epoch
/// @param interrupted  for each step: it holds a validation or starts workers
/// @param inTheMiddle  the first step is not the run's: a profiler began there
void markWarmup(std::vector<Step>& steps, const std::vector<bool>& epochStart, const std::vector<bool>& interrupted,
                bool inTheMiddle = false);

/// Sets Step::warmup of further first steps, at most of half of them, in which the host does work that a process does
/// once (steps/one_time_work.h): together with the steps already marked they form the warm-up. A step belongs to it
/// when that work takes at least kLeastWarmUpExcess of a later step. Durations alone need many steady steps to show a
/// change; few recorded steps have them not.
void markOneTimeWork(const Trace& trace, std::vector<Step>& steps);

} // namespace profiler::analysis
