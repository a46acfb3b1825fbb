#include "profiler/analysis/device/queued_gaps.h"
#include "profiler/analysis/device_facts.h"
#include "profiler/analysis/slice_queries.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

std::map<DeviceId, QueuedGaps> gapsOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    const std::vector<TimeRange> all{kAllTime};
    return queuedGaps(*trace, scanActivity(*trace), all, {DeviceId{0}, DeviceId{1}});
}

TEST(QueuedGaps, AreThoseWhoseNextWorkWasLaunchedBefore)
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
    EXPECT_EQ(queued("15 5"), 1) << "it returns as the gap begins";
    EXPECT_EQ(queued("15 6"), 0) << "the host is still launching";
}

TEST(QueuedGaps, OfSeveralStreamsAreJudgedByWhateverEndsTheGap)
{
    const auto found = gapsOf("main\ncall cudaLaunchKernel 0 2 corr=1\ncall cudaLaunchKernel 2 2 corr=2\n"
                              "call cudaLaunchKernel 25 2 corr=3\n"
                              "stream 0 7\nkernel a 10 10 corr=1\nkernel c 30 15 corr=3\n"
                              "stream 0 8\nkernel b 50 5 corr=2\n"
                              "stream 1 7\nkernel d 0 5\nkernel e 10 5\n");
    EXPECT_EQ(found.at(DeviceId{0}).ofQueued, 1) << "b was in the queue for long, but c ended the first gap";
    EXPECT_EQ(found.at(DeviceId{0}).queued.front().end, traceTime(50'000));
    EXPECT_EQ(found.at(DeviceId{1}).count, 0) << "launches that are not recorded decide nothing";
}

TEST(QueuedGaps, AreNoIdlenessOfTheHost)
{
    const auto trace = traceFromText("main\nrepeat 10 every 100\nstep 0 0 100\nop aten::add 0 100\n"
                                     "call cudaLaunchKernel 0 2 corr=1\ncall cudaLaunchKernel 3 2 corr=2\nend\n"
                                     "stream 0 7\nrepeat 10 every 100\nkernel a 10 30 corr=1\nkernel b 60 30 corr=2\n"
                                     "end\n");
    const std::vector<Step> steps = findSteps(*trace);
    const DeviceFacts facts = deviceFacts(*trace, scanActivity(*trace), steps);
    EXPECT_NEAR(facts.idleShare("queued"), 0.2, 0.01) << "20 of 100 µs between a and b";
    EXPECT_NEAR(facts.idleShare("launch"), 0.2, 0.02) << "10 before a and 10 after b";
    EXPECT_EQ(facts.gaps, 18) << "one before each kernel of the judged steps";
    // What a summary shows is not judged by the queue.
    for (const IdleCause& cause : idleCauses(scanActivity(*trace)))
        EXPECT_NE(cause.cause, "queued");
}

} // namespace
} // namespace profiler::analysis
