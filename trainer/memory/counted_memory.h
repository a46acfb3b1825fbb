#pragma once

#include <cstdint>

namespace trainer {

/// From the first call on, counts what LibTorch's allocator of the processor hands out, on all threads. What was handed
/// out before stays out of it, and so does memory of others: of libraries, and the loader's batches.
void countCpuMemory();

/// Bytes that tensors on the processor hold, as the C library rounds them; 0 where nothing is counted.
std::int64_t cpuTensorBytes();
/// The most that they held at once, since the counting or the last restart of it.
std::int64_t peakCpuTensorBytes();
void restartPeakCpuTensorBytes();

} // namespace trainer
