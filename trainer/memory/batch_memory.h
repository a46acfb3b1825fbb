#pragma once

#include "trainer/data/loader.h"

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace trainer {

/// A batch as the model's input: the first dimension of each tensor is the sample index; the other dimensions and the
/// element types are those of the dataset's spec.
struct BatchTensors {
    std::vector<at::Tensor> inputs;
    at::Tensor target;
    std::int64_t count = 0;

    [[nodiscard]] std::int64_t bytes() const;
};

/// The batch's own memory as tensors, without a copy. The memory returns to the loader when the last tensor is
/// destroyed.
BatchTensors viewOf(const data::Batch& batch, const data::SampleSpec& spec);
/// The batch on the device, with images in the model's memory format; returns the tensors of `batch` if they already
/// match.
BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format);
/// `format` for a tensor with this many dimensions: four (images) and five (3D convolutions) have a channels-last
/// format, other tensors none.
at::MemoryFormat formatFor(std::int64_t dimensions, at::MemoryFormat format);
/// Page-locked memory for batches; requires a GPU.
data::BufferAllocator pinnedAllocator();

} // namespace trainer
