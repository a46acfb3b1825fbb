#include "advisor/op_walk.h"

#include "profiler/analysis/slice_queries.h"

namespace advisor {

using namespace profiler;

std::vector<ThreadOps> threadsOps(const Trace& trace)
{
    std::vector<ThreadOps> threads;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        std::vector<analysis::SliceBrief> ops = analysis::briefsWhere(
            trace, track.id, [](const analysis::SliceView& slice) { return slice.kind() == ActivityKind::CpuOp; });
        TraceTime covered = TraceTime::min();
        std::erase_if(ops, [&](const analysis::SliceBrief& op) {
            const bool inside = op.begin < covered;
            covered = inside ? covered : op.end();
            return inside;
        });
        threads.push_back({track.id, std::move(ops)});
    }
    return threads;
}

} // namespace advisor
