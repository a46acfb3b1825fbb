#include "profiler/analysis/facts.h"

#include "profiler/analysis/steps/ranks.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/model/parallel.h"

#include <algorithm>
#include <utility>

namespace profiler::analysis {

namespace {

// With fewer slices, a second thread is not worth its start.
constexpr std::size_t kManySlices = 100'000;

Facts analyseOne(const Trace& trace, std::vector<Step> steps, const std::stop_token& stop)
{
    Facts facts;
    facts.steps = std::move(steps);
    facts.statistics = stepStatistics(facts.steps);
    if (stop.stop_requested())
        return facts;
    const auto ofHostAndDevice = [&] {
        const ActivityScan scan = scanActivity(trace);
        if (stop.stop_requested())
            return;
        facts.between = betweenSteps(trace, facts.steps);
        facts.input = inputWait(trace, facts.steps, deviceBusy(scan));
        if (stop.stop_requested())
            return;
        facts.device = deviceFacts(trace, scan, facts.steps);
    };
    const auto ofOperators = [&] { facts.ops = opCosts(trace, facts.steps); };
    parallelFor(2, trace.sliceCount() > kManySlices ? 2 : 1,
                [&](std::size_t part) { part == 0 ? ofHostAndDevice() : ofOperators(); });
    if (stop.stop_requested())
        return facts;
    // Less waiting for data can save at most the device idle time that is attributed to data loading.
    if (facts.device.hasWork() && facts.statistics.steadyCount > 0) {
        const IdleCause* data = facts.device.idleCause("data_loader");
        facts.input.idleWaitUsPerStep =
            std::min(facts.input.waitUsPerStep, data ? facts.device.deviceUsPerStep(data->time) : 0);
    }
    return facts;
}

} // namespace

Facts analyse(const Trace& trace, std::vector<Step> steps, const std::stop_token& stop,
              std::optional<std::int64_t> wanted)
{
    const std::vector<Rank> ranks = ranksOf(trace, steps);
    if (ranks.empty())
        return analyseOne(trace, std::move(steps), stop);
    const auto chosen = wanted ? std::ranges::find(ranks, *wanted, &Rank::number) : ranks.end();
    const Rank& rank = chosen != ranks.end() ? *chosen : representativeRank(ranks, trace, steps);
    if (steps.empty() || !steps.front().found)
        steps = rank.steps;
    else if (trace.track(steps.front().slice.track).pid != rank.process) // inferred steps belong to one process
        steps = rank.steps.empty() ? detectSteps(*rank.trace).steps : rank.steps;
    Facts facts = analyseOne(*rank.trace, std::move(steps), stop);
    facts.rank =
        AnalysedRank{rank.trace, rank.number, rank.name, ranks.size(), rank.sharesDevices, chosen != ranks.end()};
    for (const Rank& each : ranks) {
        const StepStatistics statistics = stepStatistics(each.steps);
        facts.rank->all.push_back({each.number, each.name, statistics.count, statistics.steadyMeanUs});
    }
    if (rank.sharesDevices)
        facts.device.ranks = static_cast<int>(ranks.size());
    return facts;
}

Facts analyse(const Trace& trace)
{
    return analyse(trace, detectSteps(trace).steps);
}

} // namespace profiler::analysis
