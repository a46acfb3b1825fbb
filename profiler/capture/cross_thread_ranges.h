#pragma once

#include "profiler/io/wire/records.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace profiler::capture {

/// Ranges that end on another thread than they began: collective calls of several processes, what waits for a future.
/// A range is known by its owner, an address that no other range has while it lasts. Thread-safe; the lock is taken for
/// such ranges only.
class CrossThreadRanges {
public:
    /// A range that is known to be one: no lane has it.
    /// @param begin  what is known of it, without an end
    void begin(const void* owner, std::uint32_t track, const wire::EventRecord& begin);
    struct Whole {
        std::uint32_t track;
        wire::EventRecord record;
    };
    /// Its end. A range that was not begun here lies on a lane of another thread, which finds its end by takeEnd(). An
    /// end that nobody takes is forgotten once some others have come.
    std::optional<Whole> end(const void* owner, std::int64_t time);

    /// Goes up with each end that waits for a lane.
    [[nodiscard]] std::uint64_t told() const { return m_told.load(std::memory_order_acquire); }
    /// When a range that began on a lane ended. An end before `begin` is that of another range which had the address.
    std::optional<std::int64_t> takeEnd(const void* owner, std::int64_t begin);

private:
    struct End {
        const void* owner;
        std::int64_t time;
    };
    std::atomic<std::uint64_t> m_told{0};
    std::mutex m_mutex;
    std::map<const void*, Whole> m_begun;
    std::vector<End> m_ended;
};

} // namespace profiler::capture
