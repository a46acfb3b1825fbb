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
    SliceId slice; ///< its mark; of a found step, what it begins with
    StepParts parts;
    bool warmup = false;      ///< first steps of the run or of an epoch, while caches fill; not steady
    bool partial = false;     ///< cut by the end of the trace
    bool opsRecorded = false; ///< the op hook was on during this step
    bool found = false;       ///< no mark tells it, but repetition (step_repetition.h)
};

/// True for a whole step that is no warm-up: what means are taken over.
constexpr bool isSteady(const Step& step)
{
    return !step.warmup && !step.partial;
}

/// Steps by their marks (step_marks.h), in order; parts from Phase slices of the same track inside it,
/// the innermost phase counting, and `backward` from autograd's own threads, too (backward_passes.h); validation and
/// the start of workers inside a step are `other`, with all they contain. Warm-up: the first step of the run, unless a
/// profiler's marks begin later in it; further first steps of the run or of an epoch while they are far (three times
/// the median absolute deviation and a seventh of the median) from the later half of the epochs' steps, at most a
/// quarter of an epoch; steps that validate, start workers or do one-time work (warmup.h). Validation, starting workers
/// and batch indices that restart tell epochs. Partial: open; and a profiler's last step, if it is that much
/// shorter.
/// @param range  ranges of this name are the steps; empty: the trace's own marks
std::vector<Step> findSteps(const Trace& trace, std::string_view range = {});

/// Steps of which begin, end and slice are known, with all else that findSteps() says of them.
std::vector<Step> withParts(const Trace& trace, std::vector<Step> steps);

/// Mean, median, percentiles over all steps, in µs. Percentiles interpolate linearly between the closest ranks.
struct StepStatistics {
    std::int64_t count = 0;
    double meanUs = 0, medianUs = 0, p90Us = 0, minUs = 0, maxUs = 0;
    double steadyMeanUs = 0; ///< without warm-up and partial steps
    std::int64_t steadyCount = 0;
    StepParts steadyMeanParts; ///< mean parts of a steady step
};
StepStatistics stepStatistics(const std::vector<Step>& steps);

} // namespace profiler::analysis
