#include "profiler/capture/fast_clock.h"

#include <atomic>
#include <chrono>
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

/// The smallest of many, since the thread may be taken off its core between two reads.
Nanoseconds smallestError()
{
    Nanoseconds least = Nanoseconds::max();
    for (int i = 0; i < 200; ++i)
        least = std::min(least, FastClock::error());
    return least;
}

} // namespace

TEST(FastClock, IsTheSystemsClockUntilItIsAdjusted)
{
    FastClock::reset();
    EXPECT_EQ(FastClock::error(), Nanoseconds{0});
}

TEST(FastClock, StaysCloseToTheMonotonicClock)
{
    settle();
    EXPECT_LT(smallestError(), std::chrono::microseconds(2));
    std::this_thread::sleep_for(milliseconds(100)); // no adjustment for as long as a writer may sleep
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

} // namespace capture_test
