#include "trainer/hooks/nvtx_ops.h"

#include <ATen/record_function.h>
#include <atomic>

namespace trainer {

namespace {

// LibTorch's callback is a plain function: what it needs is global.
std::atomic<const profiler::capture::NvtxRanges*> currentRanges{nullptr};
std::atomic<std::int64_t> given{0};

std::unique_ptr<at::ObserverContext> onStart(const at::RecordFunction& function)
{
    if (const auto* ranges = currentRanges.load(std::memory_order_acquire)) {
        ranges->push(function.name());
        given.fetch_add(1, std::memory_order_relaxed);
    }
    return nullptr;
}

void onEnd(const at::RecordFunction&, at::ObserverContext*)
{
    if (const auto* ranges = currentRanges.load(std::memory_order_acquire))
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
    return given;
}

} // namespace trainer
