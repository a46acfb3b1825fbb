#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

namespace advisor {

/// The reason why two traces do not, or may not, do the same work; empty: they do. Compares their kernels; if neither
/// has any, their operators (with shapes if both record them); if these are missing as well, the model names of the
/// runs.
profiler::Message differentWork(const profiler::Trace& a, const profiler::Trace& b,
                                const profiler::analysis::ActivityScan& scanA,
                                const profiler::analysis::ActivityScan& scanB);

} // namespace advisor
