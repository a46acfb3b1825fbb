#include "trainer/data/dummy_batch.h"

#include "trainer/data/batch_pool.h"

#include <algorithm>

namespace trainer::data {

void dummyBatch(Batch& batch, const SampleSpec& spec, std::int64_t batchSize)
{
    batch.count = std::min<std::int64_t>(batchSize, 2);
    const auto samples = static_cast<std::size_t>(batch.count);
    batch.memory = std::make_shared<BatchPool>(BufferAllocator(), spec, samples)->acquire();
    batch.pinned = false;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        std::fill_n(batch.memory->inputs[i], samples * spec.inputs[i].bytes(), std::byte{0});
    std::fill_n(batch.memory->target, samples * spec.target.bytes(), std::byte{0});
}

} // namespace trainer::data
