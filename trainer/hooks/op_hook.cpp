#include "trainer/hooks/op_hook.h"

#include "trainer/hooks/input_shapes.h"

#include <ATen/record_function.h>
#include <atomic>
#include <string>

namespace trainer {

using namespace profiler;

namespace {

// LibTorch's callback is a plain function: what it needs is global. The generation tells threads that the recorder they
// know is another one's.
std::atomic<capture::Recorder*> currentRecorder{nullptr};
std::atomic<std::uint64_t> generation{0};

capture::HostLane* laneOfThread()
{
    thread_local std::uint64_t known = 0;
    thread_local capture::HostLane* lane = nullptr;
    if (const auto now = generation.load(std::memory_order_acquire); known != now) {
        known = now;
        auto* recorder = currentRecorder.load(std::memory_order_acquire);
        lane = recorder ? &recorder->thisThread() : nullptr;
    }
    return lane;
}

std::unique_ptr<at::ObserverContext> onStart(const at::RecordFunction& function)
{
    auto* lane = laneOfThread();
    if (!lane)
        return nullptr;
    const bool backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
    // The name may be a temporary: it is interned by content.
    lane->push(ActivityKind::CpuOp, lane->intern(function.name()), function.seqNr(),
               backward ? slice_flag::kBackward : std::uint8_t{0});
    return nullptr;
}

std::unique_ptr<at::ObserverContext> onStartWithShapes(const at::RecordFunction& function)
{
    auto* lane = laneOfThread();
    if (!lane)
        return nullptr;
    thread_local std::string text; // keeps its memory
    text.clear();
    appendInputShapes(text, function);
    const std::uint32_t shapes = lane->intern(text);
    text.clear();
    appendInputTypes(text, function);
    const bool backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
    lane->push(ActivityKind::CpuOp, lane->intern(function.name()), function.seqNr(),
               backward ? slice_flag::kBackward : std::uint8_t{0}, shapes, lane->intern(text));
    return nullptr;
}

void onEnd(const at::RecordFunction&, at::ObserverContext*)
{
    if (auto* lane = laneOfThread())
        lane->pop();
}

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
        m_handle = at::addGlobalCallback(
            at::RecordFunctionCallback(m_shapes ? onStartWithShapes : onStart, onEnd).needsInputs(m_shapes));
    } else {
        at::removeCallback(m_handle);
        m_handle = 0;
    }
}

} // namespace trainer
