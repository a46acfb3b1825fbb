#include "profiler/analysis/device/launched_work.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/sort_runs.h"

#include <algorithm>
#include <tuple>

namespace profiler::analysis {

LaunchCalls::LaunchCalls(const Trace& trace, const std::stop_token& stop)
{
    const auto take = [&](const SliceView& call) {
        if (call.correlation().value != 0)
            m_calls.push_back({call.correlation().value, call.range(), call.id()});
    };
    for (const Track& track : trace.tracks())
        for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
            forEachViewOf(trace, track.id, kind, take, stop);
    sortRuns(m_calls, [](const LaunchCall& a, const LaunchCall& b) {
        return std::tie(a.correlation, a.range.begin) < std::tie(b.correlation, b.range.begin);
    });
}

const LaunchCall* LaunchCalls::find(std::uint64_t correlation) const
{
    const auto found =
        std::lower_bound(m_calls.begin(), m_calls.end(), correlation,
                         [](const LaunchCall& call, std::uint64_t wanted) { return call.correlation < wanted; });
    return correlation != 0 && found != m_calls.end() && found->correlation == correlation ? &*found : nullptr;
}

} // namespace profiler::analysis
