#pragma once

#include "trainer/data/loader.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace trainer::data {

/// One block: the images, then the labels, so that both are pinned when the block is.
struct BatchBuffer {
    std::shared_ptr<void> block;
    float* images = nullptr;
    std::int64_t* labels = nullptr;
};

/// Buffers of equal size that are used again and again. Thread-safe. A buffer returns when its last owner lets go of
/// it; once the pool is gone it is freed then.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
public:
    /// @param floats, labels  of one batch
    BatchPool(BufferAllocator allocator, std::size_t floats, std::size_t labels);

    /// One that was used before, else a new one. Throws what the allocator throws; std::bad_alloc when it gives
    /// nothing.
    std::shared_ptr<BatchBuffer> acquire();

private:
    std::unique_ptr<BatchBuffer> make() const;
    void release(std::unique_ptr<BatchBuffer> buffer) noexcept;

    BufferAllocator m_allocator;
    std::size_t m_floats, m_labels;
    std::mutex m_mutex;                               ///< never held while memory is allocated
    std::vector<std::unique_ptr<BatchBuffer>> m_free; ///< the last one used is used first: it may still be in the cache
};

} // namespace trainer::data
