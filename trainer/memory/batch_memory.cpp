#include "trainer/memory/batch_memory.h"

#include <ATen/ATen.h>
#include <stdexcept>

namespace trainer {

namespace {

at::ScalarType scalarType(data::Dtype dtype)
{
    switch (dtype) {
    case data::Dtype::Float32:
        return at::kFloat;
    case data::Dtype::Int64:
        return at::kLong;
    case data::Dtype::UInt8:
        return at::kByte;
    }
    throw std::logic_error("an element type that no tensor has");
}

} // namespace

std::int64_t BatchTensors::bytes() const
{
    std::size_t sum = target.nbytes();
    for (const at::Tensor& input : inputs)
        sum += input.nbytes();
    return static_cast<std::int64_t>(sum);
}

BatchTensors viewOf(const data::Batch& batch, const data::SampleSpec& spec)
{
    const auto view = [&](std::byte* memory, const data::ArraySpec& array) {
        std::vector<std::int64_t> shape = {batch.count};
        shape.insert(shape.end(), array.shape.begin(), array.shape.end());
        return at::from_blob(
            memory, shape, [hold = batch.memory](void*) {}, scalarType(array.dtype));
    };
    BatchTensors tensors;
    tensors.count = batch.count;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        tensors.inputs.push_back(view(batch.memory->inputs[i], spec.inputs[i]));
    tensors.target = view(batch.memory->target, spec.target);
    return tensors;
}

at::MemoryFormat formatFor(std::int64_t dimensions, at::MemoryFormat format)
{
    if (format != at::MemoryFormat::ChannelsLast || dimensions == 4)
        return dimensions == 4 ? format : at::MemoryFormat::Contiguous;
    return dimensions == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::Contiguous;
}

BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format)
{
    // Blocking copies: the buffer returns to the loader as soon as the batch is released.
    BatchTensors there;
    there.count = batch.count;
    for (const at::Tensor& input : batch.inputs)
        there.inputs.push_back(input.to(device).contiguous(formatFor(input.dim(), format)));
    there.target = batch.target.to(device);
    return there;
}

data::BufferAllocator pinnedAllocator()
{
    return {[](std::size_t bytes) {
                const at::Tensor memory =
                    at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions(at::kByte).pinned_memory(true));
                return std::shared_ptr<void>(memory.data_ptr(), [memory](void*) {});
            },
            true};
}

} // namespace trainer
