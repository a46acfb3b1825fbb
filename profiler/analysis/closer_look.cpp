#include "profiler/analysis/closer_look.h"

#include <future>
#include <utility>

namespace profiler::analysis {

namespace {

/// What tells where the host's own time goes, beside calls and phases. Other slices may span the whole trace.
CriticalPath namedPath(const Trace& trace, const std::vector<Step>& steps)
{
    return criticalPath(trace, ReplayGraph::of(trace, steps, [](const Slice& slice) {
                            return slice.kind == ActivityKind::CpuOp || slice.kind == ActivityKind::UserAnnotation ||
                                   slice.kind == ActivityKind::Nvtx;
                        }));
}

} // namespace

CloserLook closerLook(const Trace& trace, const std::vector<Step>& steps)
{
    auto path = std::async(std::launch::async, [&] { return namedPath(trace, steps); });
    CloserLook look;
    look.part = judgedPart(steps);
    const JudgedPart& part = look.part;
    const LaunchCalls calls(trace);
    look.launches = launchStatistics(trace, calls, part);
    look.copies = copyBandwidth(trace, part);
    CallSitesOfTrace sites = callSites(trace, calls, part);
    look.memsets = std::move(sites.memsets);
    look.syncs = std::move(sites.syncs);
    look.loader = loaderBalance(trace, steps);
    look.stragglers = stragglers(trace, part);
    look.path = path.get();
    return look;
}

} // namespace profiler::analysis
