#include "profiler/analysis/facts.h"

#include <utility>

namespace profiler::analysis {

Facts analyse(const Trace& trace)
{
    return analyse(trace, findSteps(trace));
}

Facts analyse(const Trace& trace, std::vector<Step> steps, const std::stop_token& stop)
{
    Facts facts;
    facts.steps = std::move(steps);
    facts.statistics = stepStatistics(facts.steps);
    if (stop.stop_requested())
        return facts;
    const ActivityScan scan = scanActivity(trace);
    if (stop.stop_requested())
        return facts;
    facts.input = inputWait(trace, facts.steps, deviceBusy(scan));
    if (stop.stop_requested())
        return facts;
    facts.ops = opCosts(trace, facts.steps);
    if (stop.stop_requested())
        return facts;
    facts.device = deviceFacts(trace, scan, facts.steps);
    return facts;
}

} // namespace profiler::analysis
