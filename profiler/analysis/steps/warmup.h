#pragma once

#include "profiler/analysis/steps/steps.h"

#include <vector>

namespace profiler::analysis {

/// Sets Step::warmup, and Step::partial of the last step, as described in steps.h.
/// @param epochStart   for each step: it is the first of an epoch
/// @param interrupted  for each step: it contains a validation or starts workers
/// @param inTheMiddle  the first step is not the first of the run, because a profiler started there
void markWarmup(std::vector<Step>& steps, const std::vector<bool>& epochStart, const std::vector<bool>& interrupted,
                bool inTheMiddle = false);

/// Sets Step::warmup of further first steps, at most half of all steps, in which the host does one-time work
/// (steps/one_time_work.h). Together with the steps already marked, they form the warm-up. A step belongs to it if this
/// work takes at least kLeastWarmUpExcess of a later step. This complements the test on durations, which needs many
/// steady steps to detect a change.
void markOneTimeWork(const Trace& trace, std::vector<Step>& steps);

} // namespace profiler::analysis
