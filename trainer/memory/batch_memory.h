#pragma once

#include "trainer/data/loader.h"

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace trainer {

/// A batch as the model takes it: the first dimension of every tensor counts the samples, the others and the element
/// types are those of the data set's spec.
struct BatchTensors {
    std::vector<at::Tensor> inputs;
    at::Tensor target;
    std::int64_t count = 0;

    [[nodiscard]] std::int64_t bytes() const;
};

/// The batch's own memory as tensors, without a copy. The memory goes back to the loader when the last of them is gone.
BatchTensors viewOf(const data::Batch& batch, const data::SampleSpec& spec);
/// On the device, images and volumes in the memory format of the model; the tensors of `batch` themselves where that is
/// what they are already.
BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format);
/// `format` for a tensor of so many dimensions: volumes have a channels-last order of their own, other tensors none.
at::MemoryFormat formatFor(std::int64_t dimensions, at::MemoryFormat format);
/// Page-locked memory for batches; needs a GPU.
data::BufferAllocator pinnedAllocator();

} // namespace trainer
