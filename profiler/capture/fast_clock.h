#pragma once

#include "profiler/io/wire/records.h"
#include "profiler/model/clock.h"

#include <atomic>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace profiler::capture {

/// The processor's time-stamp counter; 0 where there is none that programs can read.
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

/// CLOCK_MONOTONIC at the price of a read of the time-stamp counter, where the processor has an invariant one: the
/// counter is scaled by a line that adjust() keeps close to the real clock (within a microsecond at ten adjustments a
/// second). Before the second adjust(), and on other processors, it is the system's clock itself. Two reads on one
/// thread may run backwards by what an adjustment corrects, some tens of nanoseconds. Any thread.
class FastClock {
public:
    static std::int64_t nowNs() noexcept;

    /// Reads both clocks and corrects the line. Called by each recorder's writer thread whenever it wakes; at most one
    /// caller at a time does the work.
    static void adjust() noexcept;
    /// The same with readings of whichever clocks, drifting ones in tests.
    static void adjust(const wire::ClockTriple& now) noexcept;
    /// How far nowNs() is from CLOCK_MONOTONIC at this moment. For tests.
    static Nanoseconds error() noexcept;
    /// Back to the system's clock, as before the first adjust(). For tests and after a fork, whose other side may have
    /// been adjusting.
    static void reset() noexcept;

private:
    __extension__ using Wide = __int128; ///< signed: another core's counter may be a little behind
    static constexpr int kRateBits = 32;

    /// ns + (counter − tsc) · rate / 2³². `version` is odd while it is being changed.
    struct Line {
        std::atomic<std::uint64_t> version{0}, tsc{0}, ns{0}, rate{0};
    };
    static void set(std::uint64_t tsc, std::uint64_t ns, std::uint64_t rate) noexcept;
    static Line s_line;

public:
    /// The line as one thread has taken it over, for who reads the clock often: a read is the counter, one look at
    /// whether the line is another by now, and the scaling. Belongs to one thread.
    class Copy {
    public:
        /// False at first, after an adjustment, and for good where the system's clock is what is read.
        [[nodiscard]] bool isCurrent() const noexcept
        {
            return m_version == s_line.version.load(std::memory_order_acquire);
        }
        /// Takes the line over.
        void renew() noexcept;
        /// False: there is no line. The system's clock tells the time.
        [[nodiscard]] bool isUsable() const noexcept { return m_version != kNone; }
        /// The time on this line, in ns. Only where isUsable().
        [[nodiscard]] std::int64_t nowNs() const noexcept { return atNs(timeStampCounter()); }
        /// Of a reading of the counter.
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

} // namespace profiler::capture
