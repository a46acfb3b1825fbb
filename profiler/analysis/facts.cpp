#include "profiler/analysis/facts.h"

namespace profiler::analysis {

Facts analyse(const Trace& trace)
{
    Facts facts;
    facts.steps = findSteps(trace);
    facts.statistics = stepStatistics(facts.steps);
    const ActivityScan scan = scanActivity(trace);
    facts.input = inputWait(trace, facts.steps, deviceBusy(scan));
    facts.ops = opCosts(trace, facts.steps);
    facts.device = deviceFacts(trace, scan, facts.steps);
    return facts;
}

} // namespace profiler::analysis
