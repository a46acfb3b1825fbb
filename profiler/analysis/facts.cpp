#include "profiler/analysis/facts.h"

namespace profiler::analysis {

Facts analyse(const Trace& trace)
{
    Facts facts;
    facts.steps = findSteps(trace);
    facts.statistics = stepStatistics(facts.steps);
    facts.input = inputWait(trace, facts.steps);
    facts.ops = opCosts(trace, facts.steps);
    facts.device = deviceFacts(trace, facts.steps);
    return facts;
}

} // namespace profiler::analysis
