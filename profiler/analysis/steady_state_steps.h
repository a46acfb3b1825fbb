#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps.h"

#include <vector>

namespace profiler::analysis {

/// The steps that a trace is judged by: its steady ones, else all of them; empty without any.
/// @param all  all of them, steady or not
std::vector<TimeRange> steadyStateSteps(const std::vector<Step>& steps, bool all = false);

/// The part of a trace that is looked at closer, and how many steps it holds.
struct JudgedPart {
    Intervals window; ///< where the judged steps lie; empty: the trace has none, all of it counts
    std::size_t steps = 0;
    /// @return a count in a step; in the whole trace where there are no steps
    [[nodiscard]] double perStep(double count) const { return count / static_cast<double>(steps == 0 ? 1 : steps); }
    /// True for what begins there.
    [[nodiscard]] bool holds(TraceTime begin) const;
};
JudgedPart judgedPart(const std::vector<Step>& steps);

} // namespace profiler::analysis
