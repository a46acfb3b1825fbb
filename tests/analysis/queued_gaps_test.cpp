#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/slice_queries.h"

#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

std::map<DeviceId, QueuedGaps> gapsOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    const std::vector<TimeRange> all{kAllTime};
    return queuedGaps(*trace, scanActivity(*trace), all, {DeviceId{0}, DeviceId{1}});
}

TEST(QueuedGaps, AreGapsWhoseNextWorkWasAlreadyLaunched)
{
    const auto found = gapsOf("main\ncall cudaLaunchKernel 0 5 corr=1\ncall cudaLaunchKernel 5 5 corr=2\n"
                              "call cudaLaunchKernel 40 10 corr=3\n"
                              "stream 0 7\nkernel a 10 10 corr=1\nkernel b 30 15 corr=2\nkernel c 60 5 corr=3\n");
    const QueuedGaps& gaps = found.at(DeviceId{0});
    EXPECT_EQ(gaps.count, 2);
    ASSERT_EQ(gaps.ofQueued, 1);
    EXPECT_EQ(gaps.queued.front(), (TimeRange{traceTime(20'000), traceTime(30'000)}));
}

TEST(QueuedGaps, CountFromTheEndOfTheCall)
{
    const auto queued = [](std::string_view second) {
        return gapsOf(std::string("main\ncall cudaLaunchKernel 0 5 corr=1\ncall cudaLaunchKernel ") +
                      std::string(second) + " corr=2\nstream 0 7\nkernel a 10 10 corr=1\nkernel b 30 15 corr=2\n")
            .at(DeviceId{0})
            .ofQueued;
    };
    EXPECT_EQ(queued("15 5"), 1) << "the call returns when the gap starts";
    EXPECT_EQ(queued("15 6"), 0) << "the call has not returned yet";
}

TEST(QueuedGaps, OfSeveralStreamsDependOnTheWorkThatEndsTheGap)
{
    const auto found = gapsOf("main\ncall cudaLaunchKernel 0 2 corr=1\ncall cudaLaunchKernel 2 2 corr=2\n"
                              "call cudaLaunchKernel 25 2 corr=3\n"
                              "stream 0 7\nkernel a 10 10 corr=1\nkernel c 30 15 corr=3\n"
                              "stream 0 8\nkernel b 50 5 corr=2\n"
                              "stream 1 7\nkernel d 0 5\nkernel e 10 5\n");
    EXPECT_EQ(found.at(DeviceId{0}).ofQueued, 1) << "b had been queued for a long time, but c ended the first gap";
    EXPECT_EQ(found.at(DeviceId{0}).queued.front().end, traceTime(50'000));
    EXPECT_EQ(found.at(DeviceId{1}).count, 0) << "gaps without a recorded launch do not count";
}

TEST(QueuedGaps, AreNotCausedByTheHost)
{
    const auto trace = traceFromText("main\nrepeat 10 every 100\nstep 0 0 100\nop aten::add 0 100\n"
                                     "call cudaLaunchKernel 0 2 corr=1\ncall cudaLaunchKernel 3 2 corr=2\nend\n"
                                     "stream 0 7\nrepeat 10 every 100\nkernel a 10 30 corr=1\nkernel b 60 30 corr=2\n"
                                     "end\n");
    const std::vector<Step> steps = findSteps(*trace);
    const DeviceFacts facts = deviceFacts(*trace, scanActivity(*trace), steps);
    EXPECT_NEAR(facts.idleShare("queued"), 0.2, 0.01) << "20 of 100 µs between a and b";
    EXPECT_NEAR(facts.idleShare("launch"), 0.2, 0.02) << "10 before a and 10 after b";
    EXPECT_EQ(facts.gaps, 18) << "one before each kernel of the steady-state steps";
    const ActivityScan scan = scanActivity(*trace);
    const auto stretches = idleStretches(scan, queuedGaps(*trace, scan));
    const auto queued = std::ranges::count(stretches.at(DeviceId{0}), std::string_view("queued"), &IdleStretch::cause);
    EXPECT_EQ(queued, 10) << "the timeline does not say that b waits for launches";
}

/// The idle causes of a device in ten steps of 100 ms. In the third step, the host does `work` while the device is
/// idle; if `comesBack`, also in all later steps.
std::map<std::string_view, double> idleFor(const std::string& work, bool comesBack)
{
    std::string text = "main\nrepeat 10 every 100000\nstep 0 0 100000\nop aten::add 0 100\n"
                       "call cudaLaunchKernel 0 2 corr=1\nend\n";
    for (int step = 2; step < (comesBack ? 10 : 3); ++step)
        text += fmt::format("{} {} 20000\n", work, 100'000 * step + 60'000);
    const auto trace = traceFromText(text + "stream 0 7\nrepeat 10 every 100000\nkernel a 10 50000 corr=1\nend\n");
    std::map<std::string_view, double> causes;
    for (const IdleCause& cause : deviceFacts(*trace, scanActivity(*trace), findSteps(*trace)).idle)
        causes[cause.cause] = toUs(cause.time);
    return causes;
}

TEST(IdleCauses, OneTimeHostWorkIsWarmUp)
{
    for (const char* work : {"call cudaMalloc", "call cudaLaunchKernel", "op aten::cudnn_convolution"})
        EXPECT_EQ(idleFor(work, false)["warm_up"], 20'000) << work;
    auto repeated = idleFor("call cudaMalloc", true);
    EXPECT_FALSE(repeated.contains("warm_up"));
    EXPECT_EQ(repeated["allocation"], 7 * 20'000) << "all but the last one, after which the device has no work";
    EXPECT_FALSE(idleFor("driver cuModuleLoadData", false).contains("warm_up")) << "code loading is a separate cause";
    EXPECT_EQ(idleFor("driver cuModuleLoadData", false)["lazy_loading"], 20'000);
}

} // namespace
} // namespace profiler::analysis
