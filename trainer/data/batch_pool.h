#pragma once

#include "trainer/data/loader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace trainer::data {

/// Buffers of equal size that are used again and again, and what counts their owners as well: a batch allocates nothing
/// once enough were made. Thread-safe. A buffer returns when its last owner lets go of it; once the pool is gone it is
/// freed then.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
public:
    /// @param samples  of one batch
    BatchPool(BufferAllocator allocator, const SampleSpec& spec, std::size_t samples);

    /// One that was used before, else a new one. Throws what the allocator throws; std::bad_alloc when it gives
    /// nothing.
    std::shared_ptr<BatchBuffer> acquire();

private:
    std::unique_ptr<BatchBuffer> make() const;
    void release(std::unique_ptr<BatchBuffer> buffer) noexcept;

    class Counts;
    template <class T>
    struct CountAllocator;

    BufferAllocator m_allocator;
    std::array<std::size_t, kMostInputs + 1> m_offsets{}; ///< of inputs and target in the block
    std::size_t m_inputs, m_bytes;
    std::shared_ptr<Counts> m_counts;
    std::mutex m_mutex;                               ///< never held while memory is allocated
    std::vector<std::unique_ptr<BatchBuffer>> m_free; ///< the last one used is used first: it may still be in the cache
};

} // namespace trainer::data
