#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string_view>

/// The memory that tensors hold on a device, now and at its peak, and the counted allocator that knows it on the CPU.
namespace trainer {

/// From the first call on, counts the memory of LibTorch's CPU allocator on all threads. It does not count earlier
/// allocations and memory that is allocated in other ways: by libraries, and for the loader's batches.
void countCpuMemory();

/// Bytes held by CPU tensors, as rounded by the C library; 0 without counting.
std::int64_t cpuTensorBytes();
/// The peak since counting began or was restarted.
std::int64_t peakCpuTensorBytes();
void restartPeakCpuTensorBytes();

/// Peak of the bytes in use so far: of the GPU's allocator, or of the process on a CPU.
std::int64_t peakBytes(c10::Device device);
/// Which of the two: "tensors" or "process", as in protocol::Done::peakOf.
std::string_view peakOf(c10::Device device);
/// Bytes held by tensors on the device; on the CPU, only by those created since countCpuMemory().
std::int64_t tensorBytes(c10::Device device);
/// Peak of the bytes held by tensors on the device so far. On the CPU, only by those created since countCpuMemory():
/// without libraries, the loader's batches and freed memory that the C library keeps, so that it is equal in every run.
std::int64_t peakTensorBytes(c10::Device device);

} // namespace trainer
