#include "trainer/data/batch_pool.h"

#include <new>

namespace trainer::data {

namespace {

constexpr std::size_t kAlignment = 64; // a cache line, and a good alignment for vector loads

std::shared_ptr<void> alignedMemory(std::size_t bytes)
{
    return {::operator new (bytes, std::align_val_t{kAlignment}),
            [](void* memory) { ::operator delete (memory, std::align_val_t{kAlignment}); }};
}

} // namespace

/// Memory for the control blocks of shared_ptr. They outlive the return of their buffer to the pool by a moment, so
/// they cannot be stored in the buffer.
class BatchPool::Counts {
public:
    static constexpr std::size_t kBytes = 128;

    Counts() = default;
    Counts(const Counts&) = delete;
    Counts& operator=(const Counts&) = delete;
    ~Counts()
    {
        for (void* piece : m_free)
            ::operator delete(piece);
    }
    void* take()
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_free.empty()) {
                void* piece = m_free.back();
                m_free.pop_back();
                return piece;
            }
        }
        return ::operator new(kBytes);
    }
    void giveBack(void* piece) noexcept
    {
        try {
            const std::lock_guard lock(m_mutex);
            m_free.push_back(piece);
        } catch (const std::bad_alloc&) {
            ::operator delete(piece);
        }
    }

private:
    std::mutex m_mutex;
    std::vector<void*> m_free;
};

template <class T>
struct BatchPool::CountAllocator {
    using value_type = T;

    explicit CountAllocator(std::shared_ptr<Counts> source) : counts(std::move(source)) {}
    template <class U>
    explicit(false) CountAllocator(const CountAllocator<U>& other) : counts(other.counts)
    {
    }
    T* allocate(std::size_t count)
    {
        static_assert(sizeof(T) <= Counts::kBytes && alignof(T) <= alignof(std::max_align_t));
        if (count != 1)
            throw std::bad_alloc();
        return static_cast<T*>(counts->take());
    }
    void deallocate(T* piece, std::size_t) noexcept
    {
        // The control block that is freed may hold the last reference to this object.
        const std::shared_ptr<Counts> kept = counts;
        kept->giveBack(piece);
    }
    friend bool operator==(const CountAllocator& a, const CountAllocator& b) { return a.counts == b.counts; }

    std::shared_ptr<Counts> counts;
};

BatchPool::BatchPool(BufferAllocator allocator, const SampleSpec& spec, std::size_t samples)
    : m_allocator(std::move(allocator)), m_inputs(spec.inputs.size()), m_bytes(0), m_counts(std::make_shared<Counts>())
{
    if (!m_allocator.allocate)
        m_allocator = {.allocate = alignedMemory, .pinned = false};
    for (std::size_t i = 0; i <= m_inputs; ++i) {
        const ArraySpec& array = i < m_inputs ? spec.inputs[i] : spec.target;
        m_offsets[i] = m_bytes;
        m_bytes += (array.bytes() * samples + kAlignment - 1) / kAlignment * kAlignment;
    }
}

std::unique_ptr<BatchBuffer> BatchPool::make() const
{
    auto buffer = std::make_unique<BatchBuffer>();
    buffer->block = m_allocator.allocate(m_bytes);
    if (!buffer->block)
        throw std::bad_alloc();
    auto* bytes = static_cast<std::byte*>(buffer->block.get());
    for (std::size_t i = 0; i < m_inputs; ++i)
        buffer->inputs[i] = bytes + m_offsets[i];
    buffer->target = bytes + m_offsets[m_inputs];
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
    return {buffer.release(),
            [pool = weak_from_this()](BatchBuffer* used) {
                std::unique_ptr<BatchBuffer> returned(used);
                if (const auto alive = pool.lock())
                    alive->release(std::move(returned));
            },
            CountAllocator<BatchBuffer>(m_counts)};
}

void BatchPool::release(std::unique_ptr<BatchBuffer> buffer) noexcept
{
    try {
        const std::lock_guard lock(m_mutex);
        m_free.push_back(std::move(buffer));
    } catch (const std::bad_alloc&) {
        buffer.reset(); // no memory to keep it in the list: it is freed
    }
}

} // namespace trainer::data
