#include "profiler/capture/injection/op_ranges.h"

#include "profiler/capture/host_lane_impl.h"
#include "profiler/capture/injection/process_recording.h"

namespace profiler::capture::injection {

void beginOp(const char* name, std::int64_t sequence, bool backward, bool annotation, const char* shapes,
             const char* types)
{
    ThreadState& thread = thisThread();
    if (!thread.lane)
        return;
    HostLane& lane = *thread.lane;
    const ActivityKind kind = annotation ? ActivityKind::UserAnnotation : ActivityKind::CpuOp;
    const std::uint8_t flags = backward ? slice_flag::kBackward : std::uint8_t{0};
    const std::uint32_t id = lane.internAt(name ? name : "");
    const std::uint32_t detail = shapes ? lane.intern(shapes) : 0;
    if (types || !lane.inlined().tryPush(timeStampCounter(), kind, id, sequence, detail, flags))
        lane.push(kind, id, sequence, flags, detail, types ? lane.intern(types) : 0);
    ++thread.depth;
}

void endOp()
{
    const std::uint64_t counter = timeStampCounter();
    ThreadState& thread = thisThread();
    // Without a lane nothing is recorded; at depth 0 the operator began before the recording's window.
    if (!thread.lane || thread.depth == 0)
        return;
    if (!thread.lane->inlined().tryPop(counter))
        thread.lane->pop();
    --thread.depth;
}

} // namespace profiler::capture::injection
