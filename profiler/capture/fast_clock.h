#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/model/clock.h"

#include <atomic>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/// The clocks of a recording: CLOCK_MONOTONIC at the cost of reading the time-stamp counter, and readings of all clocks
/// at one moment, with which times of other clocks are converted.
namespace profiler::capture {

/// The processor's time-stamp counter; 0 if programs cannot read one.
inline std::uint64_t timeStampCounter() noexcept
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
}

/// CLOCK_MONOTONIC at the cost of reading the time-stamp counter, if the processor has an invariant one: the counter is
/// scaled by a line that adjust() keeps close to the real clock (within a microsecond at ten adjustments per second).
/// Before the second adjust(), and on other processors, it reads the system clock. Because of corrections, two reads on
/// one thread may go back by some tens of nanoseconds. Thread-safe.
class FastClock {
public:
    static std::int64_t nowNs() noexcept;

    /// Reads both clocks and corrects the line. Each recorder's writer thread calls it whenever it wakes up; if several
    /// call it at once, only one does the work.
    static void adjust() noexcept;
    /// The same with given readings, for example of drifting clocks in tests.
    static void adjust(const container::ClockTriple& now) noexcept;
    /// Current deviation of nowNs() from CLOCK_MONOTONIC. For tests.
    static Nanoseconds error() noexcept;
    /// Switches back to the system clock, as before the first adjust(). For tests, and after a fork, because the parent
    /// may have been adjusting at that moment.
    static void reset() noexcept;

private:
    __extension__ using Wide = __int128; ///< signed: another core's counter may be slightly behind
    static constexpr int kRateBits = 32;

    /// ns + (counter − tsc) · rate / 2³². `version` is odd while the line is being changed.
    struct Line {
        std::atomic<std::uint64_t> version{0}, tsc{0}, ns{0}, rate{0};
    };
    static void set(std::uint64_t tsc, std::uint64_t ns, std::uint64_t rate) noexcept;
    static Line s_line;

public:
    /// One thread's copy of the line, for frequent reads: reading the time takes the counter, one check whether the
    /// line has changed, and the scaling. Belongs to one thread.
    class Copy {
    public:
        /// False initially, after an adjustment, and always if the system clock is used.
        [[nodiscard]] bool isCurrent() const noexcept
        {
            return m_version == s_line.version.load(std::memory_order_acquire);
        }
        /// Copies the current line.
        void renew() noexcept;
        /// False if there is no line and the system clock must be used.
        [[nodiscard]] bool isUsable() const noexcept { return m_version != kNone; }
        /// The time on this line, in ns. Requires isUsable().
        [[nodiscard]] std::int64_t nowNs() const noexcept { return atNs(timeStampCounter()); }
        /// The time for a reading of the counter.
        [[nodiscard]] std::int64_t atNs(std::uint64_t counter) const noexcept
        {
            const auto since = static_cast<Wide>(static_cast<std::int64_t>(counter - m_tsc));
            return m_ns + static_cast<std::int64_t>((since * m_rate) >> kRateBits);
        }

    private:
        static constexpr std::uint64_t kNone = ~std::uint64_t{0};
        std::uint64_t m_version = kNone, m_tsc = 0;
        std::int64_t m_ns = 0, m_rate = 0;
    };
};

/// Reads the three clocks at one moment. Several attempts are made, and the one with the shortest delay between the
/// reads is kept.
container::ClockTriple readClocks();

} // namespace profiler::capture
