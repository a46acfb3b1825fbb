#pragma once

#include <c10/core/Device.h>
#include <cstdint>

namespace trainer {

/// Most bytes that were in use at once so far: of the GPU's allocator, or of the process on the processor.
std::int64_t peakBytes(c10::Device device);

} // namespace trainer
