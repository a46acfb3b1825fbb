#pragma once

#include "trainer/data/loader.h"

#include <ATen/core/Tensor.h>

namespace trainer {

/// A batch as the model takes it.
struct BatchTensors {
    at::Tensor images; ///< samples × channels × height × width, float
    at::Tensor labels; ///< samples, int64
    std::int64_t count = 0;
};

/// The batch's own memory as tensors, without a copy. The memory goes back to the loader when the last of them is gone.
BatchTensors viewOf(const data::Batch& batch, const data::SampleShape& shape);
/// On the device and in the memory format of the model; the tensors of `batch` themselves where that is what they are
/// already.
BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format);
/// Page-locked memory for batches; needs a GPU.
data::BufferAllocator pinnedAllocator();

} // namespace trainer
