#pragma once

#include "profiler/capture/fast_clock.h"
#include "profiler/capture/run_tables.h"
#include "profiler/capture/thread_buffer.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

/// How a thread buffer records a range in a few nanoseconds: for the recorder, which creates and drains buffers, and
/// for callers with very many ranges.
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

/// Ranges nested deeper than this are counted as dropped. In records, depth 255 has a special meaning.
inline constexpr std::size_t kMaxNesting = 255;

/// Implementation of a thread buffer. Everything in it belongs to the recording thread, except the atomics in the
/// header.
struct ThreadBuffer::Impl {
    /// A record as the machine words in which it is written. If data is stored in small pieces and then loaded in a
    /// larger one, the load waits until the pieces have left the store buffer, which takes longer than everything else
    /// in recording a range.
    struct Words {
        std::uint64_t head; ///< type, kind, depth, flags, name
        std::int64_t begin, end, link;
        std::uint64_t tail; ///< bytes, detail
    };
    static_assert(sizeof(Words) == sizeof(container::EventRecord));
    /// A range that has not ended: its record except for what the end adds. The order of the fields differs from the
    /// record's, so that the compiler does not merge them into larger stores.
    struct Range {
        std::uint64_t tail;
        std::int64_t link, begin;
        std::uint64_t head;
        std::uintptr_t owner; ///< kNobody: pop() ends it; kOpen: started by open(), with a Begin record; otherwise the
                              ///< owner passed to push()

        [[nodiscard]] ActivityKind kind() const { return static_cast<ActivityKind>(head >> 8 & 0xFF); }
        [[nodiscard]] std::uint32_t name() const { return static_cast<std::uint32_t>(head >> 32); }
    };
    static constexpr std::uintptr_t kNobody = 0, kOpen = 1;
    struct alignas(64) CachedAt {
        const char* address = nullptr;
        std::uint32_t wanted = 0; ///< mask of the bytes of `start` that must match; for longer texts, it has more bits
                                  ///< than `start` has bytes
        std::uint32_t id = 0;
        alignas(16) std::array<char, 16> start{}; ///< first bytes of the text, padded with zeros
        std::string_view text;                    ///< the table's own copy
    };
    struct Cached {
        std::size_t hash = 0;
        std::string_view text; ///< the table's own copy
        std::uint32_t id = 0;
        bool used = false;
    };

    /// @param ringLane  with a null header: a buffer without a ring, which drops events and counts them
    Impl(StringTable& table, CrossThreadRanges& others, container::LiveRing::Lane ringLane, std::uint32_t capacity);
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // Fast paths for most ranges, inlined where the ranges start and end. In any unusual situation they do nothing and
    // return false (0), and the caller must call the function of ThreadBuffer instead.
    // `counter`: the time-stamp counter, read before anything else. A processor reads it when all earlier instructions
    // are done, and starts later instructions once it is read; reading it at the end of a push, or in the middle of a
    // pop, was not faster (measured).
    bool tryPush(std::uint64_t counter, ActivityKind kind, std::uint32_t name, std::int64_t link, std::uint32_t detail,
                 std::uint8_t flags = 0, const void* owner = nullptr);
    bool tryPop(std::uint64_t counter, const void* owner = nullptr);
    /// Id of the text that was last seen at this address, if it is still there.
    [[nodiscard]] std::uint32_t known(const char* text) const;

    /// Cache entry for the text, which is interned if it is new. Valid until the next call.
    const Cached& cached(std::string_view text);

    /// Trace time in ns. Never goes back within a buffer, unless it was wrong by more than a millisecond.
    std::int64_t now();
    void put(const Words& record);
    /// Stack entry for a range that starts; null (and counted) if ranges nest too deep.
    Range* begin();
    /// Ends the innermost range; null (and counted) if there is none.
    Range* end();
    /// Writes the record of a range that has ended.
    void write(const Range& range, std::int64_t end, std::int64_t bytes);
    void countUnmatched();
    /// Ends the innermost range with that owner, wherever it is on the stack; ranges above it stay.
    bool popOutOfOrder(std::uintptr_t owner, std::int64_t now);
    /// Ends the ranges that other threads have ended since the last call.
    void endCrossThreadRanges();
    void takeOut(std::size_t place, std::int64_t end);
    /// Called when a new thread takes over the buffer: clears the nesting.
    void reset();

    StringTable& strings;
    CrossThreadRanges& crossThreadRanges;
    std::uint64_t endsSeen = 0;        ///< CrossThreadRanges::endCount() at the last check
    container::LaneHeader ownHeader{}; ///< for a buffer without a ring
    container::LaneHeader* header;
    container::EventRecord* records;
    std::uint64_t capacity; ///< a power of two, or 0
    std::uint64_t written = 0;
    std::uint64_t readSeen = 0; ///< the reader's index at the last check; avoids loading its cache line
    FastClock::Copy clock;
    std::int64_t lastNow = 0;
    std::size_t depth = 0;
    std::uint64_t tooDeep = 0;  ///< open ranges that did not fit on the full stack
    std::uint8_t depthBits = 0; ///< kDepthByIntervals, or 0
    /// The depth to write into records.
    [[nodiscard]] std::uint8_t shownDepth() const { return static_cast<std::uint8_t>(depth | depthBits); }
    static constexpr std::uint8_t kDepthByIntervals = 255;

    /// The innermost phase and step, for other threads.
    std::atomic<std::uint32_t> phase{0};
    std::atomic<std::int64_t> step{-1};
    void publishPlace(ActivityKind changed);
    [[nodiscard]] ThreadBuffer::Place place() const;

    std::array<Range, kMaxNesting> stack;

    // Large enough for a few hundred operator names; two entries per hash, the newer one first.
    static constexpr std::size_t kCachedStrings = 2048;
    std::array<Cached, kCachedStrings> cache;
    static constexpr std::size_t kCachedAddresses = 512;
    std::array<CachedAt, kCachedAddresses> byAddress;

    [[nodiscard]] std::size_t placeOf(const char* text) const;

private:
    void putInto(const Words& record);
    static void expectWrite(const void* address);
};

/// The first word of a record.
constexpr std::uint64_t headWord(container::EventType type, ActivityKind kind, std::uint8_t depth, std::uint8_t flags,
                                 std::uint32_t name)
{
    static_assert(std::endian::native == std::endian::little);
    return static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(kind) << 8 | std::uint64_t{depth} << 16 |
           std::uint64_t{flags} << 24 | std::uint64_t{name} << 32;
}
/// The last word of a record.
constexpr std::uint64_t tailWord(std::uint32_t bytes, std::uint32_t detail)
{
    return bytes | std::uint64_t{detail} << 32;
}

/// These cache lines are in the cache of the writer thread's core. Prefetching them early, for writing, makes them
/// available in time. (__builtin_prefetch prefetches only for reading if the target may be an older processor.)
[[gnu::always_inline]] inline void ThreadBuffer::Impl::expectWrite(const void* address)
{
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
    __builtin_prefetch(address, 1);
#endif
}

/// Writes a record to the ring, which must have room.
[[gnu::always_inline]] inline void ThreadBuffer::Impl::putInto(const Words& record)
{
    constexpr std::uint64_t kAhead = 8; // records
    // Copy word by word for the reason given at Words: copying the whole record would use larger pieces.
    char* const to = reinterpret_cast<char*>(&records[written & (capacity - 1)]);
    std::memcpy(to, &record.head, sizeof record.head);
    std::memcpy(to + offsetof(Words, begin), &record.begin, sizeof record.begin);
    std::memcpy(to + offsetof(Words, end), &record.end, sizeof record.end);
    std::memcpy(to + offsetof(Words, link), &record.link, sizeof record.link);
    std::memcpy(to + offsetof(Words, tail), &record.tail, sizeof record.tail);
    ++written;
    expectWrite(&records[(written + kAhead) & (capacity - 1)]);
    // Publish the record before the index, for the writer thread and for readers of the file after a kill.
    std::atomic_ref(header->written).store(written, std::memory_order_release);
}

[[gnu::always_inline]] inline bool ThreadBuffer::Impl::tryPush(std::uint64_t counter, ActivityKind kind,
                                                               std::uint32_t name, std::int64_t link,
                                                               std::uint32_t detail, std::uint8_t flags,
                                                               const void* owner)
{
    if (!clock.isCurrent() || depth == kMaxNesting) [[unlikely]]
        return false;
    if (owner && crossThreadRanges.endCount() != endsSeen) [[unlikely]]
        return false;
    Range& range = stack[depth];
    range.head = headWord(container::EventType::Slice, kind, shownDepth(), flags, name);
    range.link = link;
    range.tail = tailWord(0, detail);
    range.owner = reinterpret_cast<std::uintptr_t>(owner);
    ++depth;
    lastNow = std::max(lastNow, clock.atNs(counter));
    range.begin = lastNow;
    return true;
}

[[gnu::always_inline]] inline bool ThreadBuffer::Impl::tryPop(std::uint64_t counter, const void* owner)
{
    // The stack is neither empty nor full (if it is full, more ranges may be open beyond it).
    if (!clock.isCurrent() || depth - 1 >= kMaxNesting - 1 || written - readSeen >= capacity) [[unlikely]]
        return false;
    const Range& range = stack[depth - 1];
    if (range.owner != reinterpret_cast<std::uintptr_t>(owner)) [[unlikely]]
        return false;
    --depth;
    lastNow = std::max(lastNow, clock.atNs(counter));
    putInto({range.head, range.begin, lastNow, range.link, range.tail});
    return true;
}

/// Literals are at least several bytes apart, so the lowest bits of their addresses carry little information.
inline std::size_t ThreadBuffer::Impl::placeOf(const char* text) const
{
    const auto address = reinterpret_cast<std::uintptr_t>(text);
    return (address >> 3 ^ address >> 12) % kCachedAddresses;
}

[[gnu::always_inline]] inline std::uint32_t ThreadBuffer::Impl::known(const char* text) const
{
#if defined(__SSE2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // Compare sixteen bytes at once, ignoring those after the end of the text: they can be read as long as they are on
    // the same page.
    constexpr std::uintptr_t kPage = 4096, kAtOnce = 16;
    const CachedAt& cached = byAddress[placeOf(text)];
    if (cached.address != text || (reinterpret_cast<std::uintptr_t>(text) & (kPage - 1)) > kPage - kAtOnce)
        return 0;
    const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text)),
                                         _mm_load_si128(reinterpret_cast<const __m128i*>(cached.start.data())));
    return (static_cast<unsigned>(_mm_movemask_epi8(equal)) & cached.wanted) == cached.wanted ? cached.id : 0;
#else
    static_cast<void>(text);
    return 0;
#endif
}

} // namespace profiler::capture
