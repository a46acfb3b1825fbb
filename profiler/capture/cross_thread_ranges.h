#pragma once

#include "profiler/formats/container/records.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace profiler::capture {

/// Ranges that end on a different thread than they started on: collective operations, callbacks of futures. A range is
/// identified by its owner, an address that no other range uses while it lasts. Thread-safe; the lock is taken for such
/// ranges only.
class CrossThreadRanges {
public:
    /// Starts a range that is known to cross threads, so no thread buffer has it.
    /// @param begin  the record of the range, without its end
    void begin(const void* owner, std::uint32_t track, const container::EventRecord& begin);
    struct Whole {
        std::uint32_t track;
        container::EventRecord record;
    };
    /// Ends a range. If it was not started here, it is in the buffer of another thread, which collects the end with
    /// takeEnd(). Ends that no thread collects are dropped once too many are pending.
    std::optional<Whole> end(const void* owner, std::int64_t time);

    /// Increases with each end that waits to be collected.
    [[nodiscard]] std::uint64_t endCount() const { return m_endCount.load(std::memory_order_acquire); }
    /// End time of a range that started in a thread buffer. An end before `begin` belongs to an earlier range with the
    /// same address.
    std::optional<std::int64_t> takeEnd(const void* owner, std::int64_t begin);

private:
    struct End {
        const void* owner;
        std::int64_t time;
    };
    std::atomic<std::uint64_t> m_endCount{0};
    std::mutex m_mutex;
    std::map<const void*, Whole> m_begun;
    std::vector<End> m_ended;
};

} // namespace profiler::capture
