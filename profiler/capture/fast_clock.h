#pragma once

#include "profiler/model/clock.h"

#include <atomic>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace profiler::capture {

/// CLOCK_MONOTONIC at the price of a read of the time-stamp counter, where the processor has an invariant one: the
/// counter is scaled by a line that adjust() keeps close to the real clock (within a microsecond at ten adjustments a
/// second). Before the second adjust(), and on other processors, it is the system's clock itself. Two reads on one
/// thread may run backwards by what an adjustment corrects, some tens of nanoseconds. Any thread.
class FastClock {
public:
    static std::int64_t nowNs() noexcept
    {
#if defined(__x86_64__)
        const std::uint64_t version = s_line.version.load(std::memory_order_acquire);
        const std::uint64_t tsc = s_line.tsc.load(std::memory_order_acquire);
        const std::uint64_t ns = s_line.ns.load(std::memory_order_acquire);
        const std::uint64_t rate = s_line.rate.load(std::memory_order_acquire);
        if (rate != 0 && (version & 1) == 0 && s_line.version.load(std::memory_order_relaxed) == version)
            return static_cast<std::int64_t>(
                ns + static_cast<std::uint64_t>((static_cast<Wide>(static_cast<std::int64_t>(__rdtsc() - tsc)) *
                                                 static_cast<std::int64_t>(rate)) >>
                                                kRateBits));
#endif
        return toNs(TraceClock::now());
    }

    /// Reads both clocks and corrects the line. Called by each recorder's writer thread whenever it wakes; at most one
    /// caller at a time does the work.
    static void adjust() noexcept;
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
};

} // namespace profiler::capture
