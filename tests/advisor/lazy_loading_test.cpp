// Kernel code that is loaded at the first launch, and the waits that it causes.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using testing::AllOf;
using testing::DoubleNear;

constexpr std::string_view kRule = "host_lazy_loading";

/// Ten steps of 1,000 µs, each with a launch at 600 µs of 300 µs of work, and with more events on the host thread.
std::string training(std::string_view inEach, std::string_view once = "")
{
    return fmt::format("main\nrepeat 10 every 1000\nstep 0 0 1000\nop aten::add 590 20\n"
                       "call cudaLaunchKernel 600 5 corr=1\n{}\nend\n{}\nstream 0 7\nrepeat 10 every 1000\n"
                       "kernel sgemm 610 300 corr=1\nend\n",
                       inEach, once);
}

TEST(LazyLoading, LoadsInEachStepArePredictedByReplay)
{
    const Advice advice = judge(kRule, training("driver cuModuleLoadData 100 400"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, AllOf(HasId("host.lazy_loading.idle"), HasNumber("loads", 9), HasNumber("steps", 9)))
        << "the first step is warm-up";
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.404, 0.001))) << "to the last kernel";
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_NEAR(advice.saving->mid, 400, 1);
    EXPECT_EQ(advice.evidence.front().name, "cuModuleLoadData");
    EXPECT_FALSE(advice.toggle);
    EXPECT_FALSE(advice.whyNoToggle.empty());
}

TEST(LazyLoading, LoadsInOneStepMayNotRecur)
{
    const Advice advice = judge(kRule, training("", "driver cuLibraryLoadData 5000 580"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, AllOf(HasNumber("loads", 1), HasNumber("steps", 1), HasNumber("all", 9)));
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction, HasId("host.lazy_loading.one_step"));
}

TEST(LazyLoading, LoadsInFirstStepsAreSilent)
{
    const Advice advice = judge(kRule, training("", "driver cuModuleLoadData 100 400"));
    EXPECT_EQ(advice.state, State::Silent);
    EXPECT_THAT(advice.reason, AllOf(HasId("host.lazy_loading.short"), HasNumber("time", 400)));
    const Advice longer = judge(kRule, training("", "driver cuModuleLoadData 100 500"));
    EXPECT_EQ(longer.state, State::Fires) << "a twentieth of the recorded time";
    EXPECT_THAT(longer.reason, AllOf(HasId("host.lazy_loading.warm_up"), HasNumber("share", DoubleNear(0.05, 1e-9))));
    EXPECT_FALSE(longer.saving);
}

TEST(LazyLoading, FiresFromFivePercentOfTheTime)
{
    EXPECT_EQ(judge(kRule, training("driver cuModuleLoadData 100 40")).state, State::Silent);
    EXPECT_EQ(judge(kRule, training("driver cuModuleLoadData 100 60")).state, State::Fires);
}

TEST(LazyLoading, LoadsThatNoDeviceWaitsForCostNothing)
{
    EXPECT_EQ(judge(kRule, training("driver cuModuleLoadData 615 290")).state, State::Silent);
}

TEST(LazyLoading, OverheadRecordsOfTheProfilerCountToo)
{
    const Advice advice = judge(kRule, training("overhead \"Lazy Function Loading\" 100 400"));
    EXPECT_EQ(advice.state, State::Fires) << advice.reason;
}

TEST(LazyLoading, WithoutStepsNothingIsPredicted)
{
    const Advice advice = judge(kRule, "main\nop aten::add 0 20\ndriver cuModuleLoadData 500 400\nstream 0 7\n"
                                       "kernel sgemm 10 300\nkernel sgemm 950 300\n");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, AllOf(HasId("host.lazy_loading.warm_up"), HasNumber("time", 400)));
    const Advice again = judge(kRule, "main\nop aten::add 0 20\ndriver cuModuleLoadData 500 400\n"
                                      "driver cuModuleLoadData 1300 400\nstream 0 7\n"
                                      "kernel sgemm 10 300\nkernel sgemm 950 300\nkernel sgemm 1750 300\n");
    ASSERT_EQ(again.state, State::Fires) << again.reason;
    EXPECT_THAT(again.reason, HasId("host.lazy_loading.without_steps")) << "it comes back";
    EXPECT_FALSE(again.saving);
}

TEST(LazyLoading, WithoutLoadsItIsSilentAndWithoutTheHostItCannotTell)
{
    EXPECT_EQ(judge(kRule, training("")).state, State::Silent);
    EXPECT_EQ(judge(kRule, "stream 0 7\nkernel sgemm 0 300\n").state, State::CannotTell);
}

/// Eight steps of 100 ms with 60 ms of work each, and more events on the host thread in the first ones.
std::string warmingUp(std::string_view first, std::string_view inEach = "")
{
    return fmt::format("main\nrepeat 8 every 100000\nstep 0 0 100000\ncall cudaLaunchKernel 30000 5 corr=1\n{}\nend\n"
                       "{}\nstream 0 7\nrepeat 8 every 100000\nkernel sgemm 31000 60000 corr=1\nend\n",
                       inEach, first);
}

TEST(WarmUp, OneTimeWorkInTheRecordingIsReportedWithItsCauses)
{
    const Advice advice =
        judge("warmup", warmingUp("driver cuModuleLoadData 100 20000\ncall cudaMalloc 100100 25000\n"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, AllOf(HasId("warmup.recorded"), HasNumber("time", 45000), HasNumber("steps", 2)));
    EXPECT_EQ(advice.evidence.front().name, "cudaMalloc");
    EXPECT_FALSE(advice.saving);
}

TEST(WarmUp, FiresFromFivePercentOfTheRecordedTime)
{
    EXPECT_EQ(judge("warmup", warmingUp("driver cuModuleLoadData 100 40000")).state, State::Fires);
    const Advice less = judge("warmup", warmingUp("driver cuModuleLoadData 100 39900"));
    EXPECT_EQ(less.state, State::Silent);
    EXPECT_THAT(less.reason, AllOf(HasId("warmup.excluded"), HasNumber("steps", 1)));
}

TEST(WarmUp, RecurringWorkIsNotWarmUp)
{
    EXPECT_EQ(judge("warmup", warmingUp("", "driver cuModuleLoadData 100 20000")).state, State::Silent);
}

TEST(WarmUp, IsNeverCalledHostBound)
{
    // A first launch of 80 ms in each of the first three of eight steps, and a device that waits for it.
    std::string text = "main\nrepeat 8 every 100000\nstep 0 0 100000\nend\nrepeat 3 every 100000\n"
                       "call cudaLaunchKernel 1000 80000 corr=1\nend\nstream 0 7\nrepeat 3 every 100000\n"
                       "kernel sgemm 82000 10000 corr=1\nend\nrepeat 5 every 100000\n"
                       "kernel sgemm 301000 98000\nend\n";
    EXPECT_EQ(judge("host_bound", text).state, State::Silent) << judge("host_bound", text).reason;
    const Advice warmup = judge("warmup", text);
    ASSERT_EQ(warmup.state, State::Fires) << warmup.reason;
    EXPECT_THAT(warmup.reason, AllOf(HasNumber("steps", 3), HasNumber("time", 240000)));
}

TEST(WarmUp, WithoutStepsTheFigureIsNotPerStep)
{
    const std::string text = "main\ncall cudaLaunchKernel 0 90000 corr=1\nrepeat 8 every 100000\n"
                             "call cudaLaunchKernel 100000 5\nend\nstream 0 7\nkernel a 0 10\nkernel sgemm 90000 100\n"
                             "repeat 8 every 100000\nkernel sgemm 100010 99000\nend\n";
    const Advice advice = judge("warmup", text);
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, AllOf(HasId("warmup.without_steps"), HasNumber("time", 90000)));
    EXPECT_EQ(judge("host_bound", text).state, State::Silent) << judge("host_bound", text).reason;
}

/// A trace without steps: ten kernels, each followed by a copy of 4 bytes to the host and a gap of this many µs.
std::string readingWithoutSteps(int gapUs, int times = 10)
{
    return fmt::format("device 0 gpu\nmain\nop aten::mm 0 1\nrepeat {0} every 1000\ncall cudaMemcpyAsync {1} 5 corr=1\n"
                       "call cudaStreamSynchronize {1} {2} corr=2\nend\nstream 0 7\nkernel first 0 10\n"
                       "repeat {0} every 1000\nkernel sgemm 20 {3}\ncopy DtoH {4} 2 bytes=4 corr=1\nend\n"
                       "kernel last {5} 10\n",
                       times, 900 - gapUs, gapUs, 940 - gapUs, 960 - gapUs, 1000 * times + 20);
}

TEST(WithoutSteps, ReadbacksAreAShareOfTheRecordedTime)
{
    const Advice advice = judge("sync_every_n_steps", readingWithoutSteps(300));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason,
                AllOf(HasId("sync.every_n_steps.without_steps"), HasNumber("share", DoubleNear(0.34, 0.03))));
    EXPECT_FALSE(advice.saving);
    const Advice twice = judge("sync_every_n_steps", readingWithoutSteps(300, 2));
    EXPECT_THAT(twice.reason, HasId("sync.every_n_steps.little_without_steps"))
        << "two reads are not a recurring pattern";
}

TEST(InferredSteps, AreNamedByEachFindingThatCountsPerStep)
{
    const std::string work =
        "device 0 gpu\nmain\nrepeat 6 every 1000\nop aten::linear 0 100\ncall cudaLaunchKernel 50 5 corr=1\n"
        "op LinearBackward 500 100\ncall cudaLaunchKernel 550 5 corr=2\nend\nstream 0 7\n"
        "repeat 6 every 1000\nkernel gemm 60 100 corr=1\nkernel gemm_grad 560 100 corr=2\nend\n";
    const auto trace = test_support::traceFromText(work);
    const auto advice = advisor::advise(*trace, nullptr);
    ASSERT_EQ(advice.front().advice.state, State::Fires);
    EXPECT_THAT(advice.front().advice.caveats, testing::Contains(HasId("steps.inferred")));
    const auto without = advisor::advise(*trace, profiler::analysis::analyse(*trace, {}), nullptr);
    EXPECT_THAT(without.front().advice.caveats, testing::Not(testing::Contains(HasId("steps.inferred"))));
}

TEST(WithoutSteps, LoaderRulesUseTheDevicesIdleTime)
{
    const std::string busy = "main\nop aten::mm 0 1\nstream 0 7\nkernel a 0 1000\nkernel b 1010 1000\n";
    for (const char* rule : {"loader_prefetch_factor", "loader_balance", "augment_device"})
        EXPECT_THAT(judge(rule, busy).reason, HasId("loader.without_steps")) << rule;
}

TEST(WithoutSteps, CommunicationIsAShareOfTheRecordedTime)
{
    const auto run = [](int us) {
        return fmt::format("device 0 gpu\nmain\nop aten::mm 0 1\nstream 0 7\nkernel sgemm 0 900\n"
                           "kernel ncclDevKernel_AllReduce 900 {}\nkernel relu {} {}\n",
                           us, 900 + us, 100 - us);
    };
    EXPECT_THAT(judge("comm_exposed", run(99)).reason, HasId("comm.exposed.small"));
    const Advice advice = judge("comm_exposed", fmt::format("{}kernel gelu 1000 1\n", run(99)) +
                                                    "kernel ncclDevKernel_AllReduce 1001 99\n");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("comm.exposed.recorded"));
    EXPECT_THAT(judge("comm_buckets", run(19)).reason, HasId("comm.buckets.little_without_steps"));
    EXPECT_EQ(judge("comm_buckets", run(21)).state, State::CannotTell);
}

TEST(LoaderFacts, OfTheHooksDecideTheRules)
{
    const auto judged = [](const std::string& facts) {
        return judge("loader_prefetch_factor",
                     facts + "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase \"data wait\" 0 400\nend\nworker 0\n"
                             "repeat 10 every 1000\nstage read 0 900\nend\n");
    };
    EXPECT_THAT(judged("").reason, HasId("loader.prefetch_factor.factor_unknown"));
    EXPECT_NE(judged("meta loader.workers 1\nmeta loader.prefetch_factor 2\n").reason.id,
              "loader.prefetch_factor.factor_unknown");
}

} // namespace
} // namespace advisor_test
