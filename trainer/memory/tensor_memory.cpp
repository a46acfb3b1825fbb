#include "trainer/memory/tensor_memory.h"

#include "trainer/session/machine.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <malloc.h>

#include <atomic>

namespace trainer {

namespace {

std::atomic<std::int64_t> held = 0, most = 0;
c10::DeleterFnPtr real = nullptr; // set before the first allocation, then constant

void took(void* data)
{
    const auto bytes = static_cast<std::int64_t>(malloc_usable_size(data));
    const std::int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t before = most.load(std::memory_order_relaxed);
    while (now > before && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
}

void giveBack(void* data)
{
    if (data)
        held.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(data)), std::memory_order_relaxed);
    real(data);
}

// Wraps LibTorch's allocator, which reports to the profiler, and counts its memory.
class Counted final : public c10::Allocator {
public:
    explicit Counted(c10::Allocator& allocator) : m_allocator(allocator) {}
    c10::DataPtr allocate(std::size_t bytes) override
    {
        c10::DataPtr memory = m_allocator.allocate(bytes);
        // A tensor without elements has no memory and another deleter.
        if (memory.get() && memory.compare_exchange_deleter(real, &giveBack))
            took(memory.get());
        return memory;
    }
    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &giveBack; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

private:
    c10::Allocator& m_allocator;
};

} // namespace

void countCpuMemory()
{
    static const bool counts = [] {
        c10::Allocator* allocator = c10::GetCPUAllocator();
        real = allocator->raw_deleter();
        auto* counted = new Counted(*allocator); // never freed: tensors may outlive any owner
        c10::SetCPUAllocator(counted);
        return true;
    }();
    static_cast<void>(counts);
}

std::int64_t cpuTensorBytes()
{
    return held.load(std::memory_order_relaxed);
}

std::int64_t peakCpuTensorBytes()
{
    return most.load(std::memory_order_relaxed);
}

void restartPeakCpuTensorBytes()
{
    most.store(cpuTensorBytes(), std::memory_order_relaxed);
}

namespace {

c10::CachingAllocator::Stat allocated(c10::Device device)
{
    const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
    return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

} // namespace

std::int64_t peakBytes(c10::Device device)
{
    return device.is_cpu() ? peakResidentBytes() : peakTensorBytes(device);
}

std::string_view peakOf(c10::Device device)
{
    return device.is_cpu() ? "process" : "tensors";
}

std::int64_t peakTensorBytes(c10::Device device)
{
    return device.is_cpu() ? peakCpuTensorBytes() : allocated(device).peak;
}

std::int64_t tensorBytes(c10::Device device)
{
    return device.is_cpu() ? cpuTensorBytes() : allocated(device).current;
}

} // namespace trainer
