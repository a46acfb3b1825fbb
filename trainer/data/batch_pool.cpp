#include "trainer/data/batch_pool.h"

#include <new>

namespace trainer::data {

namespace {

constexpr std::size_t kAlignment = 64; // a cache line, and what vector loads like

std::shared_ptr<void> alignedMemory(std::size_t bytes)
{
    return {::operator new (bytes, std::align_val_t{kAlignment}),
            [](void* memory) { ::operator delete (memory, std::align_val_t{kAlignment}); }};
}

} // namespace

BatchPool::BatchPool(BufferAllocator allocator, std::size_t floats, std::size_t labels)
    : m_allocator(std::move(allocator)), m_floats(floats), m_labels(labels)
{
    if (!m_allocator.allocate)
        m_allocator = {.allocate = alignedMemory, .pinned = false};
}

std::unique_ptr<BatchBuffer> BatchPool::make() const
{
    const std::size_t imageBytes = (m_floats * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
    auto buffer = std::make_unique<BatchBuffer>();
    buffer->block = m_allocator.allocate(imageBytes + m_labels * sizeof(std::int64_t));
    if (!buffer->block)
        throw std::bad_alloc();
    auto* bytes = static_cast<std::byte*>(buffer->block.get());
    buffer->images = reinterpret_cast<float*>(bytes);
    buffer->labels = reinterpret_cast<std::int64_t*>(bytes + imageBytes);
    return buffer;
}

std::shared_ptr<BatchBuffer> BatchPool::acquire()
{
    std::unique_ptr<BatchBuffer> buffer;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_free.empty()) {
            buffer = std::move(m_free.back());
            m_free.pop_back();
        }
    }
    if (!buffer)
        buffer = make();
    return {buffer.release(), [pool = weak_from_this()](BatchBuffer* used) {
                std::unique_ptr<BatchBuffer> returned(used);
                if (const auto alive = pool.lock())
                    alive->release(std::move(returned));
            }};
}

void BatchPool::release(std::unique_ptr<BatchBuffer> buffer) noexcept
{
    try {
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {
        buffer.reset(); // no room to remember it: it is freed
    }
}

} // namespace trainer::data
