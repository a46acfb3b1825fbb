#pragma once

#include "profiler/model/trace.h"

#include <string_view>
#include <vector>

namespace profiler::analysis {

/// Where one step's time went, exclusive: the parts sum to the duration.
struct StepParts {
    Nanoseconds dataWait{}, copy{}, forward{}, backward{}, optimizer{}, zeroGrad{}, metrics{}, other{};
};

/// One training step.
struct Step {
    std::int64_t index = 0;
    TimeRange range;
    SliceId slice;
    StepParts parts;
    bool warmup = false;  ///< first steps of the run or of an epoch, while caches fill; not steady
    bool partial = false; ///< cut by the end of the trace
    bool opsRecorded = false; ///< the op hook was on during this step
};

/// Steps by their marks, in order. Source: slices of kind Step; parts from Phase slices of the same track inside it.
std::vector<Step> findSteps(const Trace& trace);

/// Mean, median, percentiles over steps, in µs.
struct StepStatistics {
    std::int64_t count = 0;
    double meanUs = 0, medianUs = 0, p90Us = 0, minUs = 0, maxUs = 0;
    double steadyMeanUs = 0;   ///< without warm-up and partial steps
    std::int64_t steadyCount = 0;
    StepParts steadyMeanParts; ///< mean parts of a steady step
};
StepStatistics stepStatistics(const std::vector<Step>& steps);

} // namespace profiler::analysis
