#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace profiler::capture {

/// Zeroed, 8-aligned buffers for CUPTI's records, which are reused. take() takes no lock, and allocates only if more
/// buffers are in use than ever before.
class CuptiBuffers {
public:
    /// @param bytes  size of each buffer
    /// @param ready  number of buffers allocated now
    /// @param most   maximum number of buffers
    CuptiBuffers(std::size_t bytes, std::size_t ready, std::size_t most);
    ~CuptiBuffers();
    CuptiBuffers(const CuptiBuffers&) = delete;
    CuptiBuffers& operator=(const CuptiBuffers&) = delete;

    /// A zeroed buffer, or null if all are in use. Thread-safe.
    std::uint8_t* take();
    /// Takes a buffer back and zeroes it. Ignores pointers to other memory. Thread-safe.
    void giveBack(std::uint8_t* buffer);
    /// When the buffer was taken, in monotonic ns; 0 for a pointer to other memory.
    [[nodiscard]] std::int64_t takenAt(const std::uint8_t* buffer) const;
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    struct Slot {
        std::atomic<bool> used = false;
        std::atomic<std::int64_t> taken = 0;         ///< ns
        std::atomic<std::uint8_t*> memory = nullptr; ///< allocated by the first thread that takes the slot
    };
    bool make(Slot& slot) const;

    std::size_t m_bytes;
    std::vector<Slot> m_slots;
};

} // namespace profiler::capture
