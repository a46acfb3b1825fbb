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

} // namespace profiler::analysis
