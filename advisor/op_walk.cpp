#include "advisor/op_walk.h"

#include "profiler/analysis/slice_queries.h"

namespace advisor {

using namespace profiler;

std::vector<Slice> outermostOps(const Trace& trace, TrackId track)
{
    const TrackKind kind = trace.track(track).kind;
    std::vector<Slice> outermost;
    if (kind != TrackKind::MainThread && kind != TrackKind::Thread)
        return outermost;
    for (const Slice& op :
         analysis::sortedWhere(trace, track, [](const Slice& slice) { return slice.kind == ActivityKind::CpuOp; }))
        if (outermost.empty() || op.begin >= outermost.back().end())
            outermost.push_back(op);
    return outermost;
}

void forEachThreadsOps(const Trace& trace, const std::function<void(TrackId, const std::vector<Slice>&)>& visit)
{
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread)
            visit(track.id, outermostOps(trace, track.id));
}

} // namespace advisor
