#include "profiler/analysis/device/launches.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

LaunchStatistics statisticsOf(std::string_view text, bool bySteps = false)
{
    const auto trace = traceFromText(text);
    return launchStatistics(*trace, LaunchCalls(*trace),
                            analysedPart(bySteps ? findSteps(*trace) : std::vector<Step>()));
}

// Launched at 0, 10, 20 and 100; runs at 30–60, 60–80, 80–90 and 110–130.
constexpr std::string_view kQueue = R"(
    main
      call cudaLaunchKernel 0 4 corr=1
      call cudaLaunchKernel 10 6 corr=2
      call cudaMemsetAsync 20 2 corr=3
      call cudaLaunchKernel 100 8 corr=4
    stream 0 7
      kernel a 30 30 corr=1
      kernel b 60 20 corr=2
      memset m 80 10 corr=3
      kernel a 110 20 corr=4
)";

TEST(LaunchStatistics, CountsCallsDurationsAndLatencies)
{
    const LaunchStatistics statistics = statisticsOf(kQueue);
    ASSERT_EQ(statistics.devices.size(), 1U);
    const DeviceLaunches& device = statistics.devices[0];
    EXPECT_EQ(device.work, 4);
    EXPECT_EQ(device.linked, 4);
    EXPECT_EQ(device.launches, 4);
    EXPECT_DOUBLE_EQ(device.callUs, 6); // median of 4, 6 and 8: the memset's call does not launch a kernel
    EXPECT_DOUBLE_EQ(device.callUsP99, 7.96);
    EXPECT_DOUBLE_EQ(device.delayUs, 40); // median of 30, 50, 60 and 10
    EXPECT_DOUBLE_EQ(device.delayUsP95, 58.5);
    EXPECT_EQ(device.backwards, 0);
}

TEST(LaunchStatistics, TheQueueContainsWorkThatHasNotStarted)
{
    const DeviceLaunches device = statisticsOf(kQueue).devices.at(0);
    EXPECT_EQ(device.time, std::chrono::microseconds(130));
    EXPECT_EQ(device.maxDepth, 3);
    // Depth 1 for 10 µs, 2 for 10, 3 for 10, 2 for 30, 1 for 20, 0 for 20, 1 for 10, 0 for 20
    EXPECT_NEAR(device.meanDepth, 150.0 / 130, 1e-9);
    EXPECT_NEAR(device.emptyShare, 10.0 / 130, 1e-9); // 90–100
    EXPECT_DOUBLE_EQ(device.foundEmptyShare, 0.5);    // the first and the last
}

TEST(LaunchStatistics, OnlyStepsCountIfThereAreAny)
{
    const std::string text = "main\nstep 0 0 25\nstep 1 95 45\n" + std::string(kQueue);
    const DeviceLaunches device = statisticsOf(text, true).devices.at(0);
    EXPECT_EQ(device.launches, 1); // the first step is warm-up
    EXPECT_DOUBLE_EQ(device.launchesPerStep, 1);
    EXPECT_EQ(device.time, std::chrono::microseconds(35)); // from 95 to the end of the last work
    EXPECT_NEAR(device.emptyShare, 5.0 / 35, 1e-9);
    EXPECT_DOUBLE_EQ(device.foundEmptyShare, 1);
}

TEST(LaunchStatistics, AGraphIsOneLaunchOfManyKernels)
{
    const DeviceLaunches device = statisticsOf(R"(
        main
          call cudaGraphLaunch 0 5 corr=1
        stream 0 7
          kernel a 10 10 corr=1
          kernel b 20 10 corr=1
          kernel c 30 10 corr=1
    )")
                                      .devices.at(0);
    EXPECT_EQ(device.work, 3);
    EXPECT_EQ(device.linked, 3);
    EXPECT_EQ(device.launches, 1);
    EXPECT_DOUBLE_EQ(device.delayUs, 10);
    EXPECT_EQ(device.maxDepth, 3);
    EXPECT_DOUBLE_EQ(device.foundEmptyShare, 1);
}

TEST(LaunchStatistics, ARuntimeCallAndItsDriverCallAreOneLaunch)
{
    const DeviceLaunches device = statisticsOf(R"(
        main
          call cudaLaunchKernel 0 9 corr=1
          driver cuLaunchKernel 2 5 corr=1
        stream 0 7
          kernel a 10 10 corr=1
    )")
                                      .devices.at(0);
    EXPECT_EQ(device.launches, 1);
    EXPECT_DOUBLE_EQ(device.callUs, 9);
}

TEST(LaunchStatistics, ReportsTheKnownPartIfHalfOfTheCallsAreMissing)
{
    const DeviceLaunches device = statisticsOf(R"(
        main
          call cudaLaunchKernel 0 4 corr=1
        stream 0 7
          kernel a 30 30 corr=1
          kernel b 60 20 corr=2
    )")
                                      .devices.at(0);
    EXPECT_DOUBLE_EQ(device.linkedShare(), 0.5);
    EXPECT_EQ(device.launches, 1);
    EXPECT_EQ(device.maxDepth, 1);
    EXPECT_DOUBLE_EQ(device.emptyShare, 0); // b was launched at an unknown time, at the latest when it started
}

TEST(LaunchStatistics, AClockThatGoesBackwardsGivesNoNegativeLatency)
{
    const DeviceLaunches device = statisticsOf(R"(
        main
          call cudaLaunchKernel 50 4 corr=1
          call cudaLaunchKernel 60 4 corr=2
        stream 0 7
          kernel a 20 10 corr=1
          kernel b 70 10 corr=2
    )")
                                      .devices.at(0);
    EXPECT_EQ(device.backwards, 1);
    EXPECT_DOUBLE_EQ(device.delayUs, 10);
    EXPECT_EQ(device.maxDepth, 1);
    EXPECT_NEAR(device.emptyShare, 30.0 / 60, 1e-9); // 30–60
}

TEST(LaunchStatistics, ReportsWhyThereIsNoResult)
{
    EXPECT_EQ(statisticsOf("main\nop aten::mm 0 10").cannotTell, "the trace contains no device work");
    EXPECT_EQ(statisticsOf("stream 0 7\nkernel a 0 10 corr=1").cannotTell,
              "the trace contains no launch calls, or no correlation between calls and work");
    EXPECT_EQ(statisticsOf("main\ncall cudaLaunchKernel 0 4 corr=9\nstream 0 7\nkernel a 5 10 corr=1").cannotTell,
              "no call in the steps launched device work of the trace");
    EXPECT_EQ(statisticsOf(kQueue).cannotTell, "");
}

TEST(LaunchStatistics, EachDeviceHasItsQueue)
{
    const LaunchStatistics statistics = statisticsOf(R"(
        main
          call cudaLaunchKernel 0 4 corr=1
          call cudaLaunchKernel 5 4 corr=2
        stream 0 7
          kernel a 10 10 corr=1
        stream 1 7
          kernel a 10 10 corr=2
    )");
    ASSERT_EQ(statistics.devices.size(), 2U);
    EXPECT_EQ(statistics.devices[0].maxDepth, 1);
    EXPECT_EQ(statistics.devices[1].maxDepth, 1);
    EXPECT_DOUBLE_EQ(statistics.devices[1].delayUs, 5);
}

} // namespace
} // namespace profiler::analysis
