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
CriticalPath namedPath(const Trace& trace, const std::vector<Step>& steps, const JudgedPart& part,
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
JudgedPart partOfPath(const std::vector<Step>& steps, const JudgedPart& part)
{
    std::vector<Step> withOps;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(withOps),
                 [&](const Step& step) { return step.opsRecorded && part.holds(step.range.begin); });
    return withOps.empty() ? part : judgedPart(withOps);
}

} // namespace

DetailedAnalysis detailedAnalysis(const Trace& job, const std::vector<Step>& steps, const std::stop_token& stop)
{
    const std::vector<Rank> ranks = ranksOf(job, steps);
    const std::int64_t process = steps.empty() ? 0 : job.track(steps.front().slice.track).pid;
    const auto own = std::ranges::find(ranks, process, &Rank::process);
    const Trace& trace = own == ranks.end() ? job : *own->trace;
    DetailedAnalysis look;
    look.part = judgedPart(steps);
    look.pathPart = partOfPath(steps, look.part);
    auto path = std::async(std::launch::async, [&] { return namedPath(trace, steps, look.pathPart, stop); });
    const JudgedPart& part = look.part;
    const LaunchCalls calls(trace, stop);
    look.launches = launchStatistics(trace, calls, part, stop);
    look.copies = copyBandwidth(trace, part, stop);
    CallSitesOfTrace sites = callSites(trace, calls, part, stop);
    look.memsets = std::move(sites.memsets);
    look.syncs = std::move(sites.syncs);
    if (!stop.stop_requested())
        look.loader = loaderBalance(trace, steps);
    look.stragglers = stragglers(job, part, stop);
    look.path = path.get();
    return look;
}

} // namespace profiler::analysis
