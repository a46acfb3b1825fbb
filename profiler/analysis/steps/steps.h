#pragma once

#include "profiler/model/trace.h"

#include <string_view>
#include <vector>

namespace profiler::analysis {

/// The time of one step by part; the parts are exclusive, and their sum is the duration.
struct StepParts {
    Nanoseconds dataWait{}, copy{}, forward{}, backward{}, optimizer{}, zeroGrad{}, metrics{}, other{};
};

/// One training step.
struct Step {
    std::int64_t index = 0;
    TimeRange range;
    SliceId slice; ///< its mark; for an inferred step, its first slice
    StepParts parts;
    bool warmup = false;      ///< one of the first steps of the run or of an epoch, while caches fill; not steady
    bool partial = false;     ///< cut off by the end of the trace
    bool opsRecorded = false; ///< operators were recorded during this step
    bool found = false;       ///< inferred from repetition instead of a mark (step_repetition.h)
};

/// True for complete steps after warm-up; means cover these.
constexpr bool isSteady(const Step& step)
{
    return !step.warmup && !step.partial;
}

/// Steps by their marks (step_marks.h), in order. Parts come from the Phase slices of the same track inside the step,
/// and the innermost phase counts; `backward` also includes autograd's own threads (backward_passes.h). Validation
/// and the start of workers inside a step are `other`, including everything inside them.
/// Warm-up: the first step of the run, unless the marks of a profiler start later in the run; further first steps of
/// the run or of an epoch that deviate from the later half of the epochs' steps by three times the median absolute
/// deviation and a seventh of the median, at most a quarter of an epoch; steps that validate, start workers or do
/// one-time work (warmup.h). An epoch starts after a validation, when workers start, or when batch indices restart.
/// Partial: open steps, and a profiler's last step if it is shorter by the same margin.
/// @param range  ranges of this name are the steps; empty: the trace's own marks
std::vector<Step> findSteps(const Trace& trace, std::string_view range = {});

/// Completes steps whose start, end and slice are known with everything else that findSteps() provides.
std::vector<Step> withParts(const Trace& trace, std::vector<Step> steps);

/// Mean, median and percentiles over all steps, in µs. Percentiles are interpolated linearly between the closest ranks.
struct StepStatistics {
    std::int64_t count = 0;
    double meanUs = 0, medianUs = 0, p90Us = 0, minUs = 0, maxUs = 0;
    double steadyMeanUs = 0; ///< without warm-up and partial steps
    std::int64_t steadyCount = 0;
    StepParts steadyMeanParts; ///< mean parts of a steady step
};
StepStatistics stepStatistics(const std::vector<Step>& steps);

} // namespace profiler::analysis
