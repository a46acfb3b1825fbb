#pragma once

#include "profiler/analysis/steps/steps.h"

#include <vector>

/// Steps of a CPU that runs ahead of the GPU.
namespace profiler::analysis {

/// If a program never waits for the device, the marks of a short recording end long before the device has done the work
/// of the steps, and show only how long the launches take. If the device lags behind the last mark by more than
/// kMostBehind of the time from the first mark to the last, each step's range becomes the time that the devices need
/// for it: from the end of the previous step's work to the end of its own work. The first step begins with its mark.
/// Step::mark keeps the mark. Parts are not changed.
/// Does nothing while the trace is live, or if launches are not recorded.
/// Cost: a look at the last block of each stream, unless devices work after the last mark; then O(calls + device work).
/// @param steps  with the ranges of their marks
void measureOnDevice(const Trace& trace, std::vector<Step>& steps);

/// Chosen. The length of the launch queue limits how far the device can lag, so only short recordings exceed this.
inline constexpr double kMostBehind = 0.25;

/// True if measureOnDevice() has changed the ranges of these steps.
bool areMeasuredOnDevice(const std::vector<Step>& steps);

} // namespace profiler::analysis
