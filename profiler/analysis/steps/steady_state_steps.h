#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"

#include <vector>

namespace profiler::analysis {

/// The steps that analyses use: the steady ones, or all steps if none is steady; empty without steps.
/// @param all  all steps, steady or not
std::vector<TimeRange> steadyStateSteps(const std::vector<Step>& steps, bool all = false);

/// The part of a trace that the detailed analysis covers, and the number of its steps.
struct AnalysedPart {
    Intervals window; ///< the times of the steady-state steps; empty: the trace has no steps, and all of it counts
    std::size_t steps = 0;
    /// @return a count per step; without steps: the total count
    [[nodiscard]] double perStep(double count) const { return count / static_cast<double>(steps == 0 ? 1 : steps); }
    /// True if the part contains a start time.
    [[nodiscard]] bool holds(TraceTime begin) const;
};
AnalysedPart analysedPart(const std::vector<Step>& steps);

} // namespace profiler::analysis
