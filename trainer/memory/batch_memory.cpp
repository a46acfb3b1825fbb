#include "trainer/memory/batch_memory.h"

#include <ATen/ATen.h>

namespace trainer {

BatchTensors viewOf(const data::Batch& batch, const data::SampleShape& shape)
{
    const auto hold = [memory = batch.memory](void*) {};
    return {at::from_blob(batch.images, {batch.count, shape.channels, shape.height, shape.width}, hold, at::kFloat),
            at::from_blob(batch.labels, {batch.count}, hold, at::kLong), batch.count};
}

BatchTensors placed(const BatchTensors& batch, at::Device device, at::MemoryFormat format)
{
    // The copies block: the buffer goes back to the loader as soon as the batch is let go.
    return {batch.images.to(device).contiguous(format), batch.labels.to(device), batch.count};
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
