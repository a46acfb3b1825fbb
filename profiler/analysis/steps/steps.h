#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// The steps of a training: their marks, their times by part, and the ones that analyses use.
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
    bool warmup = false;           ///< one of the first steps of the run or of an epoch, while caches fill; not steady
    bool partial = false;          ///< cut off by the end of the trace
    bool opsRecorded = false;      ///< operators were recorded during this step
    bool found = false;            ///< inferred from repetition instead of a mark (step_repetition.h)
    std::optional<TimeRange> mark; ///< on the CPU, if `range` is the time on the device (device_steps.h)
};

/// The time of a step on the CPU: when the host runs the code of the step and launches its work.
constexpr TimeRange onHost(const Step& step)
{
    return step.mark ? *step.mark : step.range;
}

/// True for complete steps after warm-up; means cover these.
constexpr bool isSteady(const Step& step)
{
    return !step.warmup && !step.partial;
}

/// Steps by their marks (stepMarks()), in order. Parts come from the Phase slices of the same track inside the step,
/// and the innermost phase counts; `backward` also includes autograd's own threads (backwardPasses()). Validation
/// and the start of workers inside a step are `other`, including everything inside them.
/// Warm-up: the first step of the run, unless the marks of a profiler start later in the run; further first steps of
/// the run or of an epoch that deviate from the later half of the epochs' steps by three times the median absolute
/// deviation and a seventh of the median, at most a quarter of an epoch; steps that validate, start workers or do
/// one-time work (markOneTimeWork()). An epoch starts after a validation, when workers start, or when batch indices
/// restart. Partial: open steps, and a profiler's last step if it is shorter by the same margin or never ran: the
/// shortest, and the only one without operators.
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

/// True for the names with which PyTorch's profiler marks steps: "ProfilerStep#5".
constexpr bool isProfilerStep(std::string_view name)
{
    return name.starts_with("ProfilerStep#");
}

/// The steps that a trace marks, by start, without parts. With a range: the NVTX ranges and annotations of that name,
/// or of that name and a number (isOfRange() in range_name.h). Otherwise our own marks, otherwise those of PyTorch's
/// profiler. If several threads have marks, as in a trace of several training processes, those of the thread with the
/// most. The index is the number in the name, otherwise the position.
std::vector<Step> stepMarks(const Trace& trace, std::string_view range);

/// The number of processes that mark such steps: ranks of one training in one file. At least 1.
int markingProcesses(const Trace& trace, const std::vector<Step>& steps);

/// True unless the track is known to belong to another process than these steps, such as another rank in the same file.
/// The activity of such a track is not part of these steps.
bool isOfSameProcess(const Trace& trace, const Track& track, const std::vector<Step>& steps);

/// True for a process that marks steps in the same way and is not the process of these steps: another rank. A loader
/// worker process marks no steps and may belong to any rank.
bool isOfOtherSteps(const Trace& trace, std::int64_t process, const std::vector<Step>& steps);

/// True if the marks start in the middle of a run, as with a profiler schedule. The first step is then not necessarily
/// warm-up.
bool beginInTheMiddle(const Trace& trace, const std::vector<Step>& steps);

/// The steps that analyses use: the steady ones, or all steps if none is steady; empty without steps.
/// @param all  all steps, steady or not
std::vector<TimeRange> steadyStateSteps(const std::vector<Step>& steps, bool all = false);

/// The part of a trace that the detailed analysis covers, and the number of its steps.
struct AnalysedPart {
    Intervals window; ///< the times of the steady-state steps; empty: the trace has no steps, and all of it counts
    Intervals host;   ///< the times of these steps on the CPU
    std::size_t steps = 0;
    /// @return a count per step; without steps: the total count
    [[nodiscard]] double perStep(double count) const { return count / static_cast<double>(steps == 0 ? 1 : steps); }
    /// True if the part contains the start time of device work.
    [[nodiscard]] bool holds(TraceTime begin) const;
    /// True if the part contains the start time of something on the CPU.
    [[nodiscard]] bool holdsOnHost(TraceTime begin) const;
};
AnalysedPart analysedPart(const std::vector<Step>& steps);

/// Limits for the last steps: at most `steps`; fewer if they contain more than `slices`, but never fewer than `least`.
struct LastStepsLimit {
    std::size_t steps = 120, slices = 10'000, least = 20;
};

/// The last steps of a training in progress, which represent its current state.
struct LastSteps {
    TraceTime begin{};       ///< start of the first of these steps
    std::int64_t count = 0;  ///< including the step in progress
    std::int64_t newest = 0; ///< index of the last of these steps
};

/// Uses our own marks (slices of kind Step) on the thread with the most recent ones. Empty if the trace has no such
/// marks, or hardly more than the limit.
/// Cost: reads only the newest blocks of the tracks with marks, however long the trace is.
std::optional<LastSteps> lastSteps(const Trace& trace, const LastStepsLimit& limit = {});

} // namespace profiler::analysis
