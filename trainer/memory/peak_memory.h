#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <string_view>

namespace trainer {

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
