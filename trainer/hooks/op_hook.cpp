#include "trainer/hooks/op_hook.h"

#include "trainer/hooks/op_callbacks.h"

#include <ATen/record_function.h>
#include <atomic>
#include <string>

namespace trainer {

using namespace profiler;

namespace {

// LibTorch's callback is a plain function, so its data is global. The generation tells a thread that its cached buffer
// belongs to an earlier recorder.
std::atomic<capture::Recorder*> currentRecorder{nullptr};
std::atomic<std::uint64_t> generation{0};

capture::ThreadBuffer* bufferOfThread()
{
    thread_local std::uint64_t known = 0;
    thread_local capture::ThreadBuffer* buffer = nullptr;
    if (const auto now = generation.load(std::memory_order_acquire); known != now) {
        known = now;
        auto* recorder = currentRecorder.load(std::memory_order_acquire);
        buffer = recorder ? &recorder->thisThread() : nullptr;
    }
    return buffer;
}

std::uint8_t flagsOf(const OpBegin& op)
{
    return op.backward ? slice_flag::kBackward : std::uint8_t{0};
}

void beginCrossThread(capture::ThreadBuffer& buffer, const OpBegin& op)
{
    if (auto* recorder = currentRecorder.load(std::memory_order_acquire))
        recorder->beginCrossThread(op.owner, op.kind, buffer.internAt(op.name), op.sequence);
}

struct IntoBuffer {
    static void begin(const OpBegin& op)
    {
        auto* buffer = bufferOfThread();
        if (buffer && op.async)
            beginCrossThread(*buffer, op);
        else if (buffer)
            buffer->push(op.kind, buffer->internAt(op.name), op.sequence, flagsOf(op), 0, 0, op.owner);
    }
    static void begin(const OpBegin& op, const std::string& shapes, const std::string& types)
    {
        auto* buffer = bufferOfThread();
        if (buffer && op.async)
            beginCrossThread(*buffer, op);
        else if (buffer)
            buffer->push(op.kind, buffer->internAt(op.name), op.sequence, flagsOf(op), buffer->intern(shapes),
                         buffer->intern(types), op.owner);
    }
    static void end(const void* owner)
    {
        auto* buffer = bufferOfThread();
        if (!buffer || buffer->popOwned(owner))
            return;
        if (auto* recorder = currentRecorder.load(std::memory_order_acquire))
            recorder->endCrossThread(owner);
    }
};

} // namespace

OpHook::OpHook(capture::Recorder& recorder, bool shapes) : m_shapes(shapes)
{
    currentRecorder = &recorder;
    ++generation;
}

OpHook::~OpHook()
{
    set(false);
    currentRecorder = nullptr;
    ++generation;
}

void OpHook::set(bool on)
{
    if (on == (m_handle != 0))
        return;
    if (on) {
        m_handle = at::addGlobalCallback(OpCallbacks<IntoBuffer>::make(m_shapes));
    } else {
        at::removeCallback(m_handle);
        m_handle = 0;
    }
}

} // namespace trainer
