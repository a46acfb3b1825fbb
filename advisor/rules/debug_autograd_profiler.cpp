#include "advisor/debug_tool.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <vector>

namespace advisor::rules {
namespace {

using profiler::analysis::toUs;

/// What a step spends outside of its phases is gathering what the profiler wrote; writing it takes about as long again,
/// in between the operators, where nothing tells them apart.
std::optional<Saving> saving(const Case& c)
{
    std::vector<double> outside;
    for (const profiler::analysis::Step& step : c.facts.steps)
        if (profiler::analysis::isSteady(step))
            outside.push_back(toUs(step.parts.other));
    const double low = profiler::analysis::percentile(outside, 0.1);
    const double high = std::min(2 * profiler::analysis::mean(outside), c.facts.statistics.steadyMeanUs);
    return perStep(low, (low + high) / 2, high);
}

constexpr DebugTool kTool = {"debug.autograd_profiler",
                             "The autograd profiler is off.",
                             "The autograd profiler records every operator of every step.",
                             "A few recorded steps are enough to see where the time goes.",
                             "steps",
                             saving};

Advice check(const Case& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_autograd_profiler()
{
    return {kTool.key, "The autograd profiler is on", check};
}

} // namespace advisor::rules
