#include "profiler/capture/injection/op_ranges.h"

#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/thread_buffer_impl.h"

namespace profiler::capture::injection {

void beginOp(const OpBegin& op)
{
    ThreadState& thread = thisThread();
    if (!thread.buffer)
        return;
    ThreadBuffer& buffer = *thread.buffer;
    const ActivityKind kind = op.annotation ? ActivityKind::UserAnnotation : ActivityKind::CpuOp;
    const std::uint8_t flags = op.backward ? slice_flag::kBackward : std::uint8_t{0};
    const std::uint32_t name = buffer.internAt(op.name ? op.name : "");
    if (op.async) {
        if (Recorder* const to = recorder())
            to->beginCrossThread(op.owner, kind, name, op.sequence);
        return;
    }
    const std::uint32_t detail = op.shapes ? buffer.intern(op.shapes) : 0;
    if (op.types || !buffer.inlined().tryPush(timeStampCounter(), kind, name, op.sequence, detail, flags, op.owner))
        buffer.push(kind, name, op.sequence, flags, detail, op.types ? buffer.intern(op.types) : 0, op.owner);
}

void endOp(const void* owner)
{
    const std::uint64_t counter = timeStampCounter();
    ThreadState& thread = thisThread();
    if (!thread.buffer || thread.buffer->inlined().tryPop(counter, owner) || thread.buffer->popOwned(owner))
        return;
    // It started on another thread, or before the recording window.
    if (Recorder* const to = recorder())
        to->endCrossThread(owner);
}

} // namespace profiler::capture::injection
