#pragma once

#include "trainer/data/loader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace trainer::data {

/// Reusable buffers of equal size, including the control blocks of their shared pointers: once enough exist, a batch
/// allocates nothing. Thread-safe. A buffer returns to the pool when its last owner releases it; if the pool no longer
/// exists, it is freed.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
public:
    /// @param samples  per batch
    BatchPool(BufferAllocator allocator, const SampleSpec& spec, std::size_t samples);

    /// A used buffer if there is one, otherwise a new one. Rethrows exceptions of the allocator; throws std::bad_alloc
    /// if it returns null.
    std::shared_ptr<BatchBuffer> acquire();

private:
    std::unique_ptr<BatchBuffer> make() const;
    void release(std::unique_ptr<BatchBuffer> buffer) noexcept;

    class Counts;
    template <class T>
    struct CountAllocator;

    BufferAllocator m_allocator;
    std::array<std::size_t, kMostInputs + 1> m_offsets{}; ///< of inputs and target within the block
    std::size_t m_inputs, m_bytes;
    std::shared_ptr<Counts> m_counts;
    std::mutex m_mutex;                               ///< never held while memory is allocated
    std::vector<std::unique_ptr<BatchBuffer>> m_free; ///< last in, first out: it may still be in the cache
};

} // namespace trainer::data
