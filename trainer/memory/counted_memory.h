#pragma once

#include <cstdint>

namespace trainer {

/// From the first call on, counts the memory of LibTorch's CPU allocator on all threads. It does not count earlier
/// allocations and memory that is allocated in other ways: by libraries, and for the loader's batches.
void countCpuMemory();

/// Bytes held by CPU tensors, as rounded by the C library; 0 without counting.
std::int64_t cpuTensorBytes();
/// The peak since counting began or was restarted.
std::int64_t peakCpuTensorBytes();
void restartPeakCpuTensorBytes();

} // namespace trainer
