#include "profiler/capture/fast_clock.h"

#include <ctime>
#include <gmock/gmock.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using container::ClockTriple;

TEST(ReadClocks, AgreesWithTheSystem)
{
    const ClockTriple before = readClocks();
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const ClockTriple after = readClocks();
    const std::int64_t realtime = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    EXPECT_LE(before.realtimeNs, realtime);
    EXPECT_GE(after.realtimeNs, realtime);
    EXPECT_GE(after.monotonicNs, before.monotonicNs);
    EXPECT_GE(after.tsc, before.tsc);
}

} // namespace capture_test
