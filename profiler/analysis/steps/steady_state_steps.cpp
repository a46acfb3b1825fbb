#include "profiler/analysis/steps/steady_state_steps.h"

#include "profiler/analysis/slice_queries.h"

#include <algorithm>

namespace profiler::analysis {

std::vector<TimeRange> steadyStateSteps(const std::vector<Step>& steps, bool all)
{
    const bool anySteady = std::any_of(steps.begin(), steps.end(), isSteady);
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (all || !anySteady || isSteady(step))
            ranges.push_back(step.range);
    return ranges;
}

bool AnalysedPart::holds(TraceTime begin) const
{
    return window.empty() || beginsWithin(begin, window);
}

AnalysedPart analysedPart(const std::vector<Step>& steps)
{
    std::vector<TimeRange> ranges = steadyStateSteps(steps);
    const std::size_t count = ranges.size();
    return {unite(std::move(ranges)), count};
}

} // namespace profiler::analysis
