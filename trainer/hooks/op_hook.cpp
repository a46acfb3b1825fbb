#include "trainer/hooks/op_hook.h"

#include "trainer/hooks/op_callbacks.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <atomic>
#include <set>
#include <string>

namespace trainer {

using namespace profiler;

namespace {

// LibTorch's callback is a plain function, so its data is global. The generation shows a thread that its cached buffer
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

namespace {

// LibTorch's callback is a plain function, so its data is global.
std::atomic<const profiler::capture::NvtxRanges*> currentRanges{nullptr};
std::atomic<std::int64_t> emitted{0};

/// Whether it may end on another thread, like a collective call: there, NVTX's pop would end another range.
bool isAsync(const at::RecordFunction& function)
{
    return function.scope() == at::RecordScope::USER_SCOPE && function.isAsync();
}

std::unique_ptr<at::ObserverContext> onStart(const at::RecordFunction& function)
{
    const auto* ranges = currentRanges.load(std::memory_order_acquire);
    if (ranges && !isAsync(function)) {
        ranges->push(function.name());
        emitted.fetch_add(1, std::memory_order_relaxed);
    }
    return nullptr;
}

void onEnd(const at::RecordFunction& function, at::ObserverContext*)
{
    const auto* ranges = currentRanges.load(std::memory_order_acquire);
    if (ranges && !isAsync(function))
        ranges->pop();
}

} // namespace

NvtxOps::NvtxOps()
{
    currentRanges = &m_ranges;
    m_handle = at::addGlobalCallback(at::RecordFunctionCallback(onStart, onEnd));
}

NvtxOps::~NvtxOps()
{
    at::removeCallback(m_handle);
    currentRanges = nullptr;
}

std::int64_t NvtxOps::count()
{
    return emitted;
}

namespace {

using Activities = std::set<torch::profiler::impl::ActivityType>;
std::int64_t profiledEvents = 0; // only the training thread has scopes

} // namespace

AutogradProfiler::AutogradProfiler()
{
    const torch::profiler::impl::ProfilerConfig settings(torch::profiler::impl::ProfilerState::KINETO);
    const Activities processorOnly = {torch::profiler::impl::ActivityType::CPU};
    torch::autograd::profiler::prepareProfiler(settings, processorOnly);
    torch::autograd::profiler::enableProfiler(settings, processorOnly);
}

AutogradProfiler::~AutogradProfiler()
{
    const auto result = torch::autograd::profiler::disableProfiler();
    if (result)
        profiledEvents += static_cast<std::int64_t>(result->events().size());
}

std::int64_t AutogradProfiler::events()
{
    return profiledEvents;
}

} // namespace trainer
