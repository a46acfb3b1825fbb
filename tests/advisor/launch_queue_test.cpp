// A device waits for the host only if its launch queue is empty.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::State;
using test_support::HasId;
using test_support::HasNumber;

/// Ten steps of 1,000 µs with twenty kernels of 5 µs each, 50 µs apart, so that the device is idle for most of the step
/// while the host runs operators. Each launch returns `aheadUs` before its kernel starts.
std::string gaps(int aheadUs, std::string_view call = "cudaLaunchKernel", bool oneLaunch = false,
                 std::string_view more = "")
{
    std::string host, device;
    for (int step = 0; step < 10; ++step) {
        host += fmt::format("step {} {} 1000\n{}\n", step, 5000 + step * 1000, more);
        for (int i = 0; i < 20; ++i) {
            const int start = 5000 + step * 1000 + i * 50;
            const int correlation = 1 + step * 20 + (oneLaunch ? 0 : i);
            host += fmt::format("op aten::add {} 48\n", start + 1);
            if (!oneLaunch || i == 0)
                host += fmt::format("call {} {} 4 corr={}\n", call, start + 40 - aheadUs, correlation);
            device += fmt::format("kernel vectorized_elementwise_kernel {} 5 corr={}\n", start + 44, correlation);
        }
    }
    return fmt::format("device 0 \"NVIDIA H100\" \"\" sm=90\nmain\n{}stream 0 7\n{}", host, device);
}

TEST(LaunchQueue, AnEmptyQueueIsHostBound)
{
    for (const char* stem : {"host_bound", "compile"}) {
        const auto advice = judge(stem, gaps(0));
        EXPECT_EQ(advice.state, State::Fires) << stem << ": " << advice.reason.text;
        ASSERT_TRUE(advice.saving) << stem;
        EXPECT_NEAR(advice.saving->high, 900, 60) << stem << ": all but the kernels";
    }
}

TEST(LaunchQueue, AFullQueueIsNotHostBoundEvenIfTheHostWorksInEveryGap)
{
    for (const char* stem : {"host_bound", "compile"}) {
        const auto advice = judge(stem, gaps(500)); // ten launches ahead
        EXPECT_EQ(advice.state, State::Silent) << stem << ": " << advice.reason.text;
        EXPECT_THAT(advice.reason, HasId("launch_queue.full")) << stem;
        EXPECT_THAT(advice.reason, HasNumber("queue", testing::DoubleNear(9.5, 0.6))) << stem;
        EXPECT_THAT(advice.reason, HasNumber("gaps", testing::DoubleNear(0.95, 0.051))) << stem;
        EXPECT_THAT(advice.reason, HasNumber("latency", testing::DoubleNear(504, 1))) << stem;
    }
}

TEST(LaunchQueue, OneLaunchAheadOfTheGapDecides)
{
    // A gap is 45 µs long: if the call returned before the gap began, the work was in the queue.
    EXPECT_EQ(judge("host_bound", gaps(44)).state, State::Fires) << "the launch returns 1 µs into the gap";
    EXPECT_EQ(judge("host_bound", gaps(45)).state, State::Silent) << "it returns as the gap begins";
}

/// A queue of `depth` launches that a wait at the end of each step has drained: the device then idles for 300 of 2,000
/// µs.
std::string deepQueueWithAWait(int depth)
{
    std::string host, device;
    int correlation = 0;
    for (int step = 0; step < 10; ++step) {
        const int at = step * 2000;
        host += fmt::format("step {} {} 2000\nop mine::prepare {} 350\n", step, at, at);
        for (int i = 0; i < depth; ++i) { // all of them within 40 µs
            host +=
                fmt::format("call cudaLaunchKernel {:.3f} 0.05 corr={}\n", at + 310 + 40.0 * i / depth, ++correlation);
            device += fmt::format("kernel sgemm {:.3f} {:.3f} corr={}\n", at + 360 + 1600.0 * i / depth, 1600.0 / depth,
                                  correlation);
        }
        host += fmt::format("call cudaDeviceSynchronize {} 1600\n", at + 360);
    }
    return fmt::format("device 0 \"NVIDIA H100\" \"\" sm=90\nmain\n{}stream 0 7\n{}", host, device);
}

TEST(LaunchQueue, HundredsOfQueuedKernelsAreNotHostBound)
{
    // The mean is half of the depth: the queue fills at once and drains evenly.
    const auto shallow = judge("host_bound", deepQueueWithAWait(150));
    EXPECT_EQ(shallow.state, State::Fires) << shallow.reason.text;
    const auto deep = judge("host_bound", deepQueueWithAWait(250));
    EXPECT_EQ(deep.state, State::Silent) << deep.reason.text;
    EXPECT_THAT(deep.reason, HasId("launch_queue.full"));
    EXPECT_THAT(deep.reason, HasNumber("queue", testing::DoubleNear(124.5, 1)));
}

TEST(LaunchQueue, KernelsOfAGraphAreLaunchedWithIt)
{
    const auto graph = judge("compile", gaps(0, "cudaGraphLaunch", true));
    EXPECT_EQ(graph.state, State::Silent) << graph.reason.text;
    EXPECT_THAT(graph.reason, HasId("compile.graphs"));
    EXPECT_EQ(judge("host_bound", gaps(0, "cudaGraphLaunch", true)).state, State::Silent)
        << "gaps between the kernels of a graph are not caused by the host";
}

TEST(LaunchQueue, AProgramThatCapturesIsNotAdvisedTo)
{
    std::string text = gaps(0);
    // One kernel of the twenty runs in a graph, and the program captures others.
    const std::string launch = "call cudaLaunchKernel 10040 4 corr=101";
    text.replace(text.find(launch), launch.size(), "call cudaGraphLaunch 10040 4 corr=101");
    EXPECT_EQ(judge("compile", text).state, State::Fires);
    text.replace(text.find("main\n"), 5, "main\ncall cudaStreamBeginCapture 100 5\n");
    EXPECT_EQ(judge("compile", text).state, State::Silent);
}

TEST(LaunchQueue, WithoutRecordedLaunchesItIsInferredWithACaveat)
{
    std::string text = gaps(0);
    for (auto at = text.find(" corr="); at != text.npos; at = text.find(" corr="))
        text.erase(at, text.find('\n', at) - at);
    const auto advice = judge("host_bound", text);
    EXPECT_EQ(advice.state, State::Fires) << advice.reason.text;
    EXPECT_THAT(advice.caveats, testing::Contains(HasId("host.bound.queue_unknown")));
}

} // namespace
} // namespace advisor_test
