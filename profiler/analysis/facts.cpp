#include "profiler/analysis/facts.h"

#include <utility>

namespace profiler::analysis {

Facts analyse(const Trace& trace)
{
    return analyse(trace, findSteps(trace));
}

Facts analyse(const Trace& trace, std::vector<Step> steps)
{
    Facts facts;
    facts.steps = std::move(steps);
    facts.statistics = stepStatistics(facts.steps);
    const ActivityScan scan = scanActivity(trace);
    facts.input = inputWait(trace, facts.steps, deviceBusy(scan));
    facts.ops = opCosts(trace, facts.steps);
    facts.device = deviceFacts(trace, scan, facts.steps);
    return facts;
}

} // namespace profiler::analysis
