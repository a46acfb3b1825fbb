#pragma once

#include "profiler/analysis/activity_scan.h"
#include "profiler/model/trace.h"

#include <string>

namespace advisor {

/// Why two traces are not known to be of the same work, as a sentence; empty: they are. Told by the kernels that both
/// have; where neither has any, by the operators (with their shapes where both record these); where these are missing
/// as well, by the model that the runs name.
std::string differentWork(const profiler::Trace& a, const profiler::Trace& b,
                          const profiler::analysis::ActivityScan& scanA, const profiler::analysis::ActivityScan& scanB);

} // namespace advisor
