#include "profiler/capture/fast_clock.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using std::chrono::milliseconds;

namespace {

void settle()
{
    FastClock::reset();
    for (int i = 0; i < 4; ++i) {
        FastClock::adjust();
        std::this_thread::sleep_for(milliseconds(30));
    }
    FastClock::adjust();
}

/// The smallest of many measurements, because the thread may be descheduled between two reads.
Nanoseconds smallestError()
{
    Nanoseconds least = Nanoseconds::max();
    for (int i = 0; i < 200; ++i)
        least = std::min(least, FastClock::error());
    return least;
}

} // namespace

TEST(FastClock, IsTheSystemClockUntilItIsAdjusted)
{
    FastClock::reset();
    EXPECT_EQ(FastClock::error(), Nanoseconds{0});
}

TEST(FastClock, StaysCloseToTheMonotonicClock)
{
    settle();
    EXPECT_LT(smallestError(), std::chrono::microseconds(2));
    std::this_thread::sleep_for(milliseconds(100)); // as long as a writer may sleep without an adjustment
    EXPECT_LT(smallestError(), std::chrono::microseconds(20));
}

TEST(FastClock, CanBeReadWhileItIsAdjusted)
{
    settle();
    std::atomic<bool> ended = false;
    std::vector<std::thread> readers;
    std::atomic<int> backwards = 0;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&] {
            std::int64_t before = FastClock::nowNs();
            while (!ended) {
                const std::int64_t now = FastClock::nowNs();
                if (now < before - 1'000'000)
                    ++backwards;
                before = now;
            }
        });
    for (int i = 0; i < 20; ++i) {
        FastClock::adjust();
        std::this_thread::sleep_for(milliseconds(11));
    }
    ended = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_EQ(backwards, 0);
}

// A counter whose rate relative to the clock changes, as if the clock were slewed: by 500 ppm, NTP's maximum.
TEST(FastClock, FollowsADriftingClock)
{
    constexpr std::int64_t kTenth = 100'000'000;
    constexpr double kTicksPerNs = 2.4, kSlew = 500e-6;
    FastClock::reset();
    FastClock::Copy copy;
    double tsc = 5e12;
    std::int64_t ns = 0;
    for (int i = 0; i < 100; ++i) {
        const double rate = kTicksPerNs * (i < 50 ? 1 : 1 + kSlew);
        FastClock::adjust({ns, 0, static_cast<std::uint64_t>(tsc)});
        copy.renew();
        if (i > 1) {
            ASSERT_TRUE(copy.isUsable());
            EXPECT_LE(std::abs(copy.atNs(static_cast<std::uint64_t>(tsc)) - ns), 1) << "at an adjustment";
            const std::int64_t before = copy.atNs(static_cast<std::uint64_t>(tsc + rate * kTenth / 2));
            EXPECT_LE(std::abs(before - (ns + kTenth / 2)), i < 50 || i > 75 ? 100 : 30'000)
                << "between two adjustments, " << i;
        }
        tsc += rate * kTenth;
        ns += kTenth;
    }
    FastClock::reset();
    EXPECT_FALSE(copy.isCurrent());
    copy.renew();
    EXPECT_FALSE(copy.isUsable());
}

// The machine was suspended or migrated: the counter continued, the clock did not.
TEST(FastClock, StartsOverWhenTheCounterJumps)
{
    FastClock::reset();
    FastClock::Copy copy;
    FastClock::adjust({0, 0, 1'000'000'000});
    FastClock::adjust({100'000'000, 0, 1'200'000'000});
    copy.renew();
    ASSERT_TRUE(copy.isUsable());
    FastClock::adjust({200'000'000, 0, 900'000'000'000});
    EXPECT_FALSE(copy.isCurrent());
    copy.renew();
    EXPECT_FALSE(copy.isUsable());
    FastClock::adjust({300'000'000, 0, 900'200'000'000});
    copy.renew();
    ASSERT_TRUE(copy.isUsable());
    EXPECT_EQ(copy.atNs(900'200'000'000), 300'000'000);
    FastClock::reset();
}

} // namespace capture_test
