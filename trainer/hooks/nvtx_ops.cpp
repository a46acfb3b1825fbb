#include "trainer/hooks/nvtx_ops.h"

#include <ATen/record_function.h>
#include <atomic>

namespace trainer {

namespace {

// LibTorch's callback is a plain function, so its data is global.
std::atomic<const profiler::capture::NvtxRanges*> currentRanges{nullptr};
std::atomic<std::int64_t> given{0};

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
        given.fetch_add(1, std::memory_order_relaxed);
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
    return given;
}

} // namespace trainer
