#pragma once

#include "profiler/analysis/activity_scan.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

namespace advisor {

/// Why two traces are not known to do the same work; empty: they do. Judged by the kernels that both have; where
/// neither has any, by the operators (with their shapes where both record these); where these are missing as well, by
/// the model that the runs name.
profiler::Message differentWork(const profiler::Trace& a, const profiler::Trace& b,
                                const profiler::analysis::ActivityScan& scanA,
                                const profiler::analysis::ActivityScan& scanB);

} // namespace advisor
