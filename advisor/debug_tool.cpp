#include "advisor/debug_tool.h"

#include "advisor/prediction/saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/percentile.h"

#include <vector>

namespace advisor {

using profiler::analysis::toUs;

bool showsWhatLiesOutside(const Case& c)
{
    return c.facts.statistics.steadyCount > 0 &&
           toUs(c.facts.statistics.steadyMeanParts.other) < c.facts.statistics.steadyMeanUs * (1 - 1e-9);
}

std::optional<Saving> savedInFirstSteps(const Case& c)
{
    if (hasDeviceWork(c.trace)) // which hides some of it
        return std::nullopt;
    const auto& steps = c.facts.steps;
    std::vector<double> all, saved;
    for (const auto& step : steps)
        all.push_back(toUs(step.parts.other));
    const double usual = profiler::analysis::percentile(all, 0.5);
    for (const std::size_t first : firstOfEpochs(c))
        if (!steps[first].partial)
            saved.push_back(all[first] - usual);
    if (saved.size() < 2 || saved.size() == all.size())
        return std::nullopt;
    // The first time is a warm-up, like the first step.
    if (saved.size() > 2)
        saved.erase(saved.begin());
    return meanOver(SavingUnit::UsPerEpoch, saved);
}

Advice checkDebugTool(const Case& c, const DebugTool& tool)
{
    const auto configured = setting(c, tool.key);
    if (!configured)
        return cannotTell(message<"debug_tool.no_configuration",
                                  "The trace contains no configuration, and the tool leaves no trace of its own.">(),
                          Need::Program);
    if (*configured == "false")
        return silent(tool.isOff());
    Advice advice = fires(tool.isOn());
    if (tool.saving && showsWhatLiesOutside(c))
        advice.saving = tool.saving(c);
    if (!advice.saving)
        advice.whyNoPrediction = message<"debug_tool.no_step_without_it",
                                         "The trace has no step without the tool to compare with: measure it.">();
    if (c.facts.statistics.steadyCount > 0)
        advice.concerns = toUs(c.facts.statistics.steadyMeanParts.other) / c.facts.statistics.steadyMeanUs;
    advice.caveats = {tool.caveat()};
    advice.measure = tool.measure;
    setToggle(advice, c, tool.key, "false");
    addSteps(advice, c);
    return advice;
}

} // namespace advisor
