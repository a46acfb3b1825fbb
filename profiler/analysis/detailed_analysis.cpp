#include "profiler/analysis/detailed_analysis.h"

#include "profiler/analysis/steps/ranks.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

namespace profiler::analysis {

namespace {

/// The critical path in which operators, annotations and NVTX ranges name the host's self time, in addition to calls
/// and phases. Other slices may span the whole trace.
CriticalPath namedPath(const Trace& trace, const std::vector<Step>& steps, const AnalysedPart& part,
                       const std::stop_token& stop)
{
    const auto named = [](const SliceView& slice) {
        const ActivityKind kind = slice.kind();
        return kind == ActivityKind::CpuOp || kind == ActivityKind::UserAnnotation || kind == ActivityKind::Nvtx;
    };
    return criticalPath(trace, ReplayGraph::of(trace, steps, named, stop), part.window, stop);
}

/// If only a few steps record operators, the host work of all other steps is known only by phase. A sum over both would
/// list the same work under two names, so the path covers only the steps with operators.
AnalysedPart partOfPath(const std::vector<Step>& steps, const AnalysedPart& part)
{
    std::vector<Step> withOps;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(withOps),
                 [&](const Step& step) { return step.opsRecorded && part.holds(step.range.begin); });
    return withOps.empty() ? part : analysedPart(withOps);
}

} // namespace

DetailedAnalysis detailedAnalysis(const Trace& job, const std::vector<Step>& steps, const std::stop_token& stop)
{
    const std::vector<Rank> ranks = ranksOf(job, steps);
    const std::int64_t process = steps.empty() ? 0 : job.track(steps.front().slice.track).pid;
    const auto own = std::ranges::find(ranks, process, &Rank::process);
    const Trace& trace = own == ranks.end() ? job : *own->trace;
    DetailedAnalysis result;
    result.part = analysedPart(steps);
    result.pathPart = partOfPath(steps, result.part);
    auto path = std::async(std::launch::async, [&] { return namedPath(trace, steps, result.pathPart, stop); });
    const AnalysedPart& part = result.part;
    const LaunchCalls calls(trace, stop);
    result.launches = launchStatistics(trace, calls, part, stop);
    result.copies = copyBandwidth(trace, part, stop);
    CallSitesOfTrace sites = callSites(trace, calls, part, stop);
    result.memsets = std::move(sites.memsets);
    result.syncs = std::move(sites.syncs);
    if (!stop.stop_requested())
        result.loader = loaderBalance(trace, steps);
    result.stragglers = stragglers(job, part, stop);
    result.path = path.get();
    return result;
}

} // namespace profiler::analysis
