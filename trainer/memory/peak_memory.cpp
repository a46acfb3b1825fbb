#include "trainer/memory/peak_memory.h"

#include "trainer/memory/counted_memory.h"
#include "trainer/session/host.h"

#include <c10/core/CachingDeviceAllocator.h>

namespace trainer {

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
