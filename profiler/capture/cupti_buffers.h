#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace profiler::capture {

/// Buffers for CUPTI's records: zeroed, 8-aligned, used again and again. take() takes no lock, and allocates only while
/// there are fewer buffers than were ever needed at once.
class CuptiBuffers {
public:
    /// @param bytes  of each buffer. @param ready  made now. @param most  that there may be
    CuptiBuffers(std::size_t bytes, std::size_t ready, std::size_t most);
    ~CuptiBuffers();
    CuptiBuffers(const CuptiBuffers&) = delete;
    CuptiBuffers& operator=(const CuptiBuffers&) = delete;

    /// A buffer of zeros; null when all are in use. Any thread.
    std::uint8_t* take();
    /// Takes a buffer back and zeroes it. A buffer that is not one of these is left alone. Any thread.
    void giveBack(std::uint8_t* buffer);
    /// When the buffer was taken, monotonic ns; 0 for a buffer that is not one of these.
    [[nodiscard]] std::int64_t takenAt(const std::uint8_t* buffer) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }
    [[nodiscard]] std::size_t inUse() const;

private:
    struct Slot {
        std::atomic<bool> used = false;
        std::atomic<std::int64_t> taken = 0;         ///< ns
        std::atomic<std::uint8_t*> memory = nullptr; ///< made by whoever takes the slot first
    };
    bool make(Slot& slot) const;

    std::size_t m_bytes;
    std::vector<Slot> m_slots;
};

} // namespace profiler::capture
