#include "tests/capture/killed_recording.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace capture_test {

TEST(KillSoak, TwoHundredKillsLoseNoHostEventsAndLittleGpuWork)
{
    constexpr int kRounds = 200;
    const KillLosses losses = killAtRandomMoments(kRounds, 1);
    EXPECT_EQ(losses.problem, "");
    EXPECT_EQ(losses.opened, kRounds);
    EXPECT_EQ(losses.hostLost, 0U);
    ASSERT_FALSE(losses.gpuLost.empty());
    const auto worst = *std::max_element(losses.gpuLost.begin(), losses.gpuLost.end());
    // Device work waits for the writer thread, which wakes every 7 ms here, or later on a busy machine.
    EXPECT_LT(worst, std::chrono::milliseconds(250));
    std::printf("%d kills: %llu host events, %llu lost, %llu found in the rings; device work lost up to %.1f ms\n",
                kRounds, static_cast<unsigned long long>(losses.hostEvents),
                static_cast<unsigned long long>(losses.hostLost), static_cast<unsigned long long>(losses.fromRing),
                static_cast<double>(worst.count()) / 1e6);
}

} // namespace capture_test
