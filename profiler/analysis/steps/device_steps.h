#pragma once

#include "profiler/analysis/steps/steps.h"

#include <vector>

/// Steps of a CPU that runs ahead of the GPU.
namespace profiler::analysis {

/// A CPU that reads nothing back launches its steps sooner than a busy device runs them: the marks of a short recording
/// then end long before the work of its steps, and show only how long launching takes. If the device is behind at the
/// last mark by more than kMostBehind of the time from the first mark to the last, sets the range of each step to the
/// time that the devices need for it: from the end of the previous step's work to the end of its own, and that of the
/// first step from its mark; Step::mark keeps the mark. Parts remain those of the marks; the rest of the range is
/// `other`.
/// Changes nothing while the trace is live, and if launches are not recorded.
/// Cost: a look at the last block of each stream, unless devices work after the last mark; then O(calls + device work).
/// @param steps  complete except for warm-up (withParts())
void measureOnDevice(const Trace& trace, std::vector<Step>& steps);

/// Chosen: a longer recording has the launch queue's length as its limit, so this is exceeded by few steps only.
inline constexpr double kMostBehind = 0.25;

/// True if measureOnDevice() has changed the ranges of these steps.
bool areMeasuredOnDevice(const std::vector<Step>& steps);

} // namespace profiler::analysis
