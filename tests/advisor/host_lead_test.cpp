// The cost of a wait that makes the host lose its lead over the device, and the caller of a wait.
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
using test_support::HasText;

/// Ten steps of 1,000 µs on a GPU: the host launches twenty kernels of 8 µs, 20 µs apart, followed by a long one that
/// ends at 995 µs, with these events in the first `waiting` steps and those in all of them.
std::string twentySmallKernels(std::string_view wait, int waiting = 10, std::string_view always = "")
{
    std::string launches, kernels;
    for (int i = 0; i < 20; ++i) {
        launches +=
            fmt::format("op aten::add {0} 18\ncall cudaLaunchKernel {1} 5 corr={2}\n", 20 * i, 20 * i + 2, i + 1);
        kernels += fmt::format("kernel elementwise {} 8 corr={}\n", 20 * i + 10, i + 1);
    }
    return fmt::format("device 0 \"Tesla V100\"\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n{}"
                       "call cudaLaunchKernel 402 5 corr=30\n{}\nend\nrepeat {} every 1000\n{}\nend\n"
                       "stream 0 7\nrepeat 10 every 1000\n{}kernel sgemm 410 585 corr=30\nend\n",
                       launches, always, waiting, wait, kernels);
}

constexpr std::string_view kWait = "op mine::timing 409 590\ncall cudaDeviceSynchronize 410 588";

TEST(HostLead, AWaitCostsTheIdleTimeUntilTheHostIsAheadAgain)
{
    const Judged judged("sync_every_n_steps", twentySmallKernels(kWait), {}, true);
    ASSERT_EQ(judged.advice().state, State::Fires) << judged.advice().reason;
    EXPECT_EQ(judged.advice().title, "Each step waits until the device is done");
    // All but the first step: 12 µs after each of twenty kernels, and the idle time directly after the wait.
    EXPECT_THAT(judged.advice().reason, HasId("sync.every_n_steps.idle_and_lead"));
    EXPECT_THAT(judged.advice().reason, HasText("ways", "0.9 calls that wait for the GPU (mine::timing)"));
    EXPECT_THAT(judged.advice().reason, HasNumber("first", testing::DoubleNear(13.3, 0.1)));
    EXPECT_NEAR(judged.advice().timeShare, 0.9 * 0.25, 0.01);
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_EQ(judged.advice().saving->kind, advisor::SavingKind::UpperBound) << "the program may need the time";
    EXPECT_NEAR(judged.advice().saving->high, 0.9 * 252, 1)
        << "the mean over the steps, and not the end of its interval";
}

TEST(HostLead, AReadbackCostsIt)
{
    std::string text = twentySmallKernels("op aten::item 408 590\ncall cudaMemcpyAsync 409 5 corr=40\n"
                                          "call cudaStreamSynchronize 415 582");
    text += "repeat 10 every 1000\ncopy DtoH 995 1 bytes=4 src=device dst=pageable corr=40\nend\n";
    const Judged judged("sync_every_n_steps", text, {}, true);
    ASSERT_EQ(judged.advice().state, State::Fires) << judged.advice().reason;
    EXPECT_EQ(judged.advice().title, "Each step waits to read a value back");
    EXPECT_THAT(judged.advice().reason, profiler::test::hasPart("ways", "(aten::item)"));
}

TEST(HostLead, AWaitInSomeStepsIsNotReportedForEach)
{
    const auto advice = [](int waiting) { return judge("sync_every_n_steps", twentySmallKernels(kWait, waiting)); };
    EXPECT_EQ(advice(6).state, State::Fires);
    EXPECT_EQ(advice(5).state, State::Silent);
    EXPECT_THAT(advice(5).reason, HasId("sync.every_n_steps.some_steps"));
    EXPECT_THAT(advice(5).reason, HasNumber("some", 4));
}

TEST(HostLead, AHostThatIsNeverAheadLosesNothing)
{
    // The device finishes soon: whether the host waits for it or does something else, the next step is late.
    std::string text = twentySmallKernels("call cudaDeviceSynchronize 410 35");
    text.replace(text.find("sgemm 410 585"), 13, "sgemm 410 30 ");
    EXPECT_EQ(judge("sync_every_n_steps", text).state, State::Fires) << "the device idles behind it";
    text = twentySmallKernels("call cudaDeviceSynchronize 992 6");
    EXPECT_EQ(judge("sync_every_n_steps", text).state, State::Silent);
}

TEST(HostLead, WhoWaitsForABatchOfWorkersWouldWaitLonger)
{
    const auto state = [](std::string_view loader) {
        std::string text = twentySmallKernels("call cudaDeviceSynchronize 410 193", 10,
                                              fmt::format("op enumerate(DataLoader)#_{} 604 393", loader));
        text.replace(text.find("sgemm 410 585"), 13, "sgemm 410 190");
        return judge("sync_every_n_steps", text).state;
    };
    EXPECT_EQ(state("MultiProcessingDataLoaderIter.__next__"), State::Silent);
    EXPECT_EQ(state("SingleProcessDataLoaderIter.__next__"), State::Fires) << "loading is the host's own work";
}

/// Ten steps in which one caller's two waits leave the device idle for 100 µs each, and another caller's wait for the
/// given time.
advisor::Advice twoCallers(int otherUs)
{
    const std::string host = "op first::wait 90 20\ncall cudaDeviceSynchronize 95 10\n"
                             "op other::wait 290 20\ncall cudaDeviceSynchronize 295 10\n"
                             "op first::wait 590 20\ncall cudaDeviceSynchronize 595 10";
    return judge("sync_every_n_steps",
                 fmt::format("device 0 \"Tesla V100\"\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n{}\nend\nstream 0 7\n"
                             "repeat 10 every 1000\nkernel sgemm 0 100\nkernel sgemm 200 100\nkernel sgemm {} {}\n"
                             "kernel sgemm 700 299\nend\n",
                             host, 300 + otherUs, 300 - otherUs));
}

TEST(HostLead, TheCallerWithTheLongestIdleTimeIsNamed)
{
    EXPECT_THAT(twoCallers(250).reason, profiler::test::hasPart("ways", "(other::wait)"));
    EXPECT_THAT(twoCallers(150).reason, profiler::test::hasPart("ways", "(first::wait)")) << "both of its waits count";
    const advisor::Advice advice = twoCallers(250);
    ASSERT_FALSE(advice.evidence.empty());
    EXPECT_EQ(advice.evidence.front().range.begin, profiler::traceTime(1'295'000)) << "the longest first";
}

} // namespace
} // namespace advisor_test
