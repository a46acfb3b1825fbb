#include "profiler/capture/fast_clock.h"

#include "profiler/os/machine.h"

#include <cmath>
#include <cstdlib>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace profiler::capture {

constinit FastClock::Line FastClock::s_line;

namespace {

// The rate is measured over a second or more, so a reading that is 30 ns off causes an error of only 0.03 ppm.
constexpr std::int64_t kAnchorAgeNs = 1'000'000'000;
// Over a shorter time, the measured rate would be less accurate than the nominal one.
constexpr std::int64_t kLeastNs = 10'000'000;
// If the rate changes by more than this, the counter has jumped (the machine was suspended or migrated): start over.
constexpr double kWorstRateChange = 1e-3;

struct Adjusting {
    std::atomic_flag busy;
    bool started = false;
    container::ClockTriple anchor{}, next{};
    double rate = 0;
};
constinit Adjusting s_adjusting;

bool counterIsInvariant()
{
#if defined(__x86_64__)
    constexpr unsigned kPowerLeaf = 0x80000007, kInvariantBit = 1U << 8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
#elif defined(__aarch64__)
    return true; // guaranteed by the architecture
#else
    return false;
#endif
}

} // namespace

std::int64_t FastClock::nowNs() noexcept
{
    Copy copy;
    copy.renew();
    return copy.isUsable() ? copy.nowNs() : toNs(TraceClock::now());
}

void FastClock::Copy::renew() noexcept
{
    const std::uint64_t version = s_line.version.load(std::memory_order_acquire);
    const std::uint64_t tsc = s_line.tsc.load(std::memory_order_acquire);
    const std::uint64_t ns = s_line.ns.load(std::memory_order_acquire);
    const std::uint64_t rate = s_line.rate.load(std::memory_order_acquire);
    m_version = kNone;
    if (rate == 0 || (version & 1) != 0 || s_line.version.load(std::memory_order_relaxed) != version)
        return; // no line, or it is being changed
    m_version = version;
    m_tsc = tsc;
    m_ns = static_cast<std::int64_t>(ns);
    m_rate = static_cast<std::int64_t>(rate);
}

void FastClock::set(std::uint64_t tsc, std::uint64_t ns, std::uint64_t rate) noexcept
{
    const std::uint64_t version = s_line.version.load(std::memory_order_relaxed);
    s_line.version.store(version + 1, std::memory_order_relaxed);
    // Each store releases the one before it: a reader that sees a new field also sees the odd version.
    s_line.tsc.store(tsc, std::memory_order_release);
    s_line.ns.store(ns, std::memory_order_release);
    s_line.rate.store(rate, std::memory_order_release);
    s_line.version.store(version + 2, std::memory_order_release);
}

void FastClock::adjust() noexcept
{
    static const bool s_usable = counterIsInvariant();
    if (s_usable)
        adjust(readClocks());
}

void FastClock::adjust(const container::ClockTriple& now) noexcept
{
    if (s_adjusting.busy.test_and_set(std::memory_order_acquire))
        return;
    Adjusting& state = s_adjusting;
    const std::int64_t sinceAnchor = now.monotonicNs - state.anchor.monotonicNs;
    if (!state.started) {
        state.started = true;
        state.anchor = state.next = now;
    } else if (sinceAnchor >= kLeastNs) {
        const double rate = static_cast<double>(sinceAnchor) /
                            static_cast<double>(static_cast<std::int64_t>(now.tsc - state.anchor.tsc));
        const bool jumped = rate <= 0 || (state.rate != 0 && std::abs(rate / state.rate - 1) > kWorstRateChange);
        state.rate = jumped ? 0 : rate;
        set(now.tsc, static_cast<std::uint64_t>(now.monotonicNs),
            static_cast<std::uint64_t>(state.rate * static_cast<double>(std::uint64_t{1} << kRateBits)));
        // Two anchors alternate, so the rate always covers one to two seconds and follows a clock that is slewed.
        if (jumped) {
            state.anchor = state.next = now;
        } else if (now.monotonicNs - state.next.monotonicNs >= kAnchorAgeNs) {
            state.anchor = state.next;
            state.next = now;
        }
    }
    state.busy.clear(std::memory_order_release);
}

Nanoseconds FastClock::error() noexcept
{
    const std::int64_t before = toNs(TraceClock::now());
    const std::int64_t fast = nowNs();
    const std::int64_t after = toNs(TraceClock::now());
    if (fast < before)
        return Nanoseconds{before - fast};
    return Nanoseconds{fast > after ? fast - after : 0};
}

void FastClock::reset() noexcept
{
    set(0, 0, 0);
    s_adjusting.started = false;
    s_adjusting.rate = 0;
    s_adjusting.busy.clear(std::memory_order_release);
}

container::ClockTriple readClocks()
{
    constexpr int kTries = 5;
    container::ClockTriple best{};
    std::int64_t closest = 0;
    for (int i = 0; i < kTries; ++i) {
        const std::int64_t before = os::monotonicTime().count();
        const std::int64_t realtime = os::realTime().count();
        const std::uint64_t tsc = timeStampCounter();
        const std::int64_t after = os::monotonicTime().count();
        if (i == 0 || after - before < closest) {
            closest = after - before;
            best = {before + (after - before) / 2, realtime, tsc};
        }
    }
    return best;
}

} // namespace profiler::capture
