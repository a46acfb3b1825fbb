#pragma once

#include <vector>

namespace profiler::analysis {

/// The percentile of the values, linearly interpolated between the closest ranks; 0 without values.
/// @param share  [0, 1]; 0.5 is the median
double percentile(std::vector<double> values, double share);
double mean(const std::vector<double>& values);

} // namespace profiler::analysis
