#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <string_view>

namespace trainer {

/// Most bytes that were in use at once so far: of the GPU's allocator, or of the process on the processor.
std::int64_t peakBytes(c10::Device device);
/// Which of the two: "tensors" or "process", as protocol::Done::peakOf has it.
std::string_view peakOf(c10::Device device);
/// Bytes that tensors on the device hold; on the processor of those since countCpuMemory().
std::int64_t tensorBytes(c10::Device device);
/// Most bytes that tensors on the device held at once so far. On the processor those since countCpuMemory(): without
/// libraries, the loader's batches and what the C library keeps of freed memory, so that it is the same in every run.
std::int64_t peakTensorBytes(c10::Device device);

} // namespace trainer
