#include "advisor/evidence/debug_tool.h"

#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/statistics.h"

#include <vector>

namespace advisor {

using profiler::analysis::toUs;

bool marksPhases(const RuleContext& c)
{
    return c.facts.statistics.steadyCount > 0 &&
           toUs(c.facts.statistics.steadyMeanParts.other) < c.facts.statistics.steadyMeanUs * (1 - 1e-9);
}

profiler::Message costOfFirstSteps(const RuleContext& c)
{
    const auto& steps = c.facts.steps;
    std::vector<double> all, more;
    for (const auto& step : steps)
        all.push_back(toUs(step.parts.other));
    const double usual = profiler::analysis::percentile(all, 0.5);
    for (const std::size_t first : firstOfEpochs(c))
        if (!steps[first].partial)
            more.push_back(all[first] - usual);
    if (more.empty() || more.size() == all.size() || hasDeviceWork(c.trace)) // a device hides part of it
        return {};
    // The first of several epochs is warm-up.
    if (more.size() > 1)
        more.erase(more.begin());
    const double us = profiler::analysis::mean(more);
    return message<"debug_tool.first_steps",
                   "The check takes {time} per epoch. It may also slow the steps that follow, which "
                   "the trace does not show: measure it.">({{"time", us, timeText(us)}});
}

Advice checkDebugTool(const RuleContext& c, const DebugTool& tool)
{
    const auto configured = setting(c, tool.key);
    if (!configured)
        return cannotTell(
            message<"debug_tool.no_configuration",
                    "The trace contains no configuration, and the tool itself leaves no events in the trace.">(),
            Need::Program);
    if (*configured == "false")
        return silent(tool.isOff());
    Advice advice = fires(tool.isOn());
    if (tool.saving && marksPhases(c))
        advice.saving = tool.saving(c);
    if (!advice.saving && tool.whyNoPrediction && marksPhases(c))
        advice.whyNoPrediction = tool.whyNoPrediction(c);
    if (!advice.saving && advice.whyNoPrediction.empty())
        advice.whyNoPrediction = message<"debug_tool.no_step_without_it",
                                         "The trace has no step without the tool to compare with: measure it.">();
    if (c.facts.statistics.steadyCount > 0)
        advice.timeShare = toUs(c.facts.statistics.steadyMeanParts.other) / c.facts.statistics.steadyMeanUs;
    advice.caveats = {tool.caveat()};
    advice.measure = tool.measure;
    setToggle(advice, c, tool.key, "false");
    addSteps(advice, c);
    return advice;
}

} // namespace advisor
