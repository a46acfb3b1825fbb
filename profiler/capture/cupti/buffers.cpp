#include "profiler/capture/cupti/buffers.h"

#include "profiler/model/clock.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace profiler::capture {

namespace {
constexpr std::size_t kAlignment = 64; // CUPTI requires 8; a whole cache line keeps the buffers of two threads apart
}

CuptiBuffers::CuptiBuffers(std::size_t bytes, std::size_t ready, std::size_t most)
    : m_bytes((bytes + kAlignment - 1) / kAlignment * kAlignment), m_slots(most)
{
    for (std::size_t i = 0; i < std::min(ready, most); ++i)
        make(m_slots[i]);
}

CuptiBuffers::~CuptiBuffers()
{
    for (Slot& slot : m_slots)
        std::free(slot.memory.load());
}

bool CuptiBuffers::make(Slot& slot) const
{
    auto* memory = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, m_bytes));
    if (memory)
        std::memset(memory, 0, m_bytes);
    slot.memory.store(memory, std::memory_order_release);
    return memory != nullptr;
}

std::uint8_t* CuptiBuffers::take()
{
    for (Slot& slot : m_slots) {
        if (slot.used.exchange(true, std::memory_order_acquire))
            continue;
        if (slot.memory.load(std::memory_order_relaxed) || make(slot)) {
            slot.taken.store(toNs(TraceClock::now()), std::memory_order_relaxed);
            return slot.memory.load(std::memory_order_relaxed);
        }
        slot.used.store(false, std::memory_order_release);
        return nullptr;
    }
    return nullptr;
}

void CuptiBuffers::giveBack(std::uint8_t* buffer)
{
    const auto slot = std::find_if(m_slots.begin(), m_slots.end(), [&](const Slot& candidate) {
        return candidate.memory.load(std::memory_order_acquire) == buffer;
    });
    if (!buffer || slot == m_slots.end())
        return;
    std::memset(buffer, 0, m_bytes);
    slot->used.store(false, std::memory_order_release);
}

std::int64_t CuptiBuffers::takenAt(const std::uint8_t* buffer) const
{
    for (const Slot& slot : m_slots)
        if (buffer && slot.memory.load(std::memory_order_acquire) == buffer)
            return slot.taken.load(std::memory_order_relaxed);
    return 0;
}

} // namespace profiler::capture
