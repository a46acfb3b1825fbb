#include "profiler/analysis/steps/slow_step.h"

#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using namespace std::chrono_literals;
using test_support::traceFromText;
using testing::ElementsAre;
using testing::IsEmpty;

/// Why the last of the steps is slow; checks what is true of every explanation.
SlowStep lastOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    const std::vector<Step> steps = findSteps(*trace);
    const SlowStep slow = whyStepIsSlow(*trace, scanActivity(*trace), steps, steps.size() - 1);
    Nanoseconds sum{0}, before = Nanoseconds::max();
    EXPECT_LE(slow.causes.size(), 3U);
    for (const SlowStepCause& cause : slow.causes) {
        EXPECT_LE(cause.excess, before);
        before = cause.excess;
        sum += cause.excess;
        EXPECT_FALSE(cause.where.empty()) << cause.reason;
        EXPECT_TRUE(slow.step.range.overlaps(cause.where)) << cause.reason;
    }
    EXPECT_LE(sum, slow.excess);
    EXPECT_EQ(slow.unexplained, slow.excess - sum);
    return slow;
}

std::vector<std::string> ids(const SlowStep& slow)
{
    std::vector<std::string> all;
    for (const SlowStepCause& cause : slow.causes)
        all.push_back(cause.reason.id);
    return all;
}

/// Six even steps of 1000 µs: a wait of 100, a kernel of 300, an operator; then what is given.
std::string after(std::string_view last)
{
    return R"(
        main
          repeat 6 every 1000
            step 0 0 1000
            phase "data wait" 0 100
            op aten::linear 100 500
            call cudaLaunchKernel 150 10 corr=1
          end
        stream 0 7
          repeat 6 every 1000
            kernel gemm 200 300 corr=1
          end
        main
    )" + std::string(last);
}

TEST(SlowStep, AStepOfUsualLengthHasNoCauses)
{
    const SlowStep slow = lastOf(after(""));
    EXPECT_EQ(slow.usual, 1000us);
    EXPECT_EQ(slow.excess, 0ns);
    EXPECT_THAT(slow.causes, IsEmpty());
}

TEST(SlowStep, WaitingForDataIsTheCause)
{
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 1500
          phase "data wait" 6000 600
          op aten::linear 6600 500
          call cudaLaunchKernel 6650 10 corr=9
        stream 0 7
          kernel gemm 6700 300 corr=9
    )"));
    EXPECT_EQ(slow.excess, 500us);
    ASSERT_THAT(ids(slow), ElementsAre("slow_step.data_wait"));
    EXPECT_EQ(slow.causes[0].excess, 500us);
    EXPECT_EQ(slow.causes[0].where, (TimeRange{traceTime(6'000'000), traceTime(6'600'000)}));
    EXPECT_EQ(slow.unexplained, 0ns);
}

TEST(SlowStep, AKernelThatRanLongerIsNamed)
{
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 1400
          phase "data wait" 6000 100
          op aten::linear 6100 500
          call cudaLaunchKernel 6150 10 corr=9
        stream 0 7
          kernel gemm 6200 700 corr=9
    )"));
    ASSERT_FALSE(slow.causes.empty());
    EXPECT_EQ(slow.causes[0].reason.id, "slow_step.longer_kernels");
    EXPECT_EQ(slow.causes[0].reason.find("kernel")->text, "gemm");
    EXPECT_EQ(slow.causes[0].excess, 400us);
    EXPECT_EQ(slow.causes[0].where, (TimeRange{traceTime(6'200'000), traceTime(6'900'000)}));
}

TEST(SlowStep, AKernelThatRanMoreOftenIsNamedWithItsCounts)
{
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 1300
          phase "data wait" 6000 100
          op aten::linear 6100 500
          call cudaLaunchKernel 6150 10 corr=9
        stream 0 7
          kernel gemm 6200 300 corr=9
          kernel gemm 6500 300 corr=10
    )"));
    ASSERT_FALSE(slow.causes.empty());
    EXPECT_EQ(slow.causes[0].reason.id, "slow_step.more_kernels");
    EXPECT_EQ(std::get<double>(slow.causes[0].reason.find("count")->value), 2);
    EXPECT_EQ(std::get<double>(slow.causes[0].reason.find("usual")->value), 1);
}

TEST(SlowStep, SeveralCausesAreSortedAndNeverExceedTheDifference)
{
    // Allocation 300, a garbage collection 200, the rest of the step nothing: 100 less than the median.
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 1400
          phase "data wait" 6000 100
          call cudaMalloc 6100 300
          op "gc.collect" 6400 200
          op aten::linear 6600 500
          call cudaLaunchKernel 6650 10 corr=9
        stream 0 7
          kernel gemm 6700 300 corr=9
    )"));
    EXPECT_EQ(slow.excess, 400us);
    ASSERT_THAT(ids(slow), ElementsAre("slow_step.allocation", "slow_step.garbage_collection"));
    EXPECT_EQ(slow.causes[0].excess, 300us);
    EXPECT_EQ(slow.causes[1].excess, 100us) << "the part that the first cause leaves";
}

TEST(SlowStep, ASyncCountsOnlyWhileTheDeviceIsIdle)
{
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 1500
          phase "data wait" 6000 100
          op aten::linear 6100 500
          call cudaLaunchKernel 6150 10 corr=9
          call cudaDeviceSynchronize 6600 500
        stream 0 7
          kernel gemm 6200 300 corr=9
    )"));
    ASSERT_FALSE(slow.causes.empty());
    EXPECT_EQ(slow.causes[0].reason.id, "slow_step.sync");
    EXPECT_EQ(slow.causes[0].excess, 500us);
}

TEST(SlowStep, HostWorkIsNamedByItsCall)
{
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 2000
          phase "data wait" 6000 100
          op aten::linear 6100 500
          call cudaLaunchKernel 6150 10 corr=9
          op aten::nonzero 6600 1000
        stream 0 7
          kernel gemm 6200 300 corr=9
    )"));
    ASSERT_FALSE(slow.causes.empty());
    EXPECT_EQ(slow.causes[0].reason.id, "slow_step.host_call");
    EXPECT_EQ(slow.causes[0].reason.find("call")->text, "aten::nonzero");
}

TEST(SlowStep, CountersNamePreemptionAndPageFaults)
{
    constexpr std::string_view kLast = R"(
          step 6 6000 2000
          phase "data wait" 6000 100
          op aten::linear 6100 500
          call cudaLaunchKernel 6150 10 corr=9
        stream 0 7
          kernel gemm 6200 300 corr=9
        counter "%" unit=1/s
          sample 1000 VALUE
          sample 2000 VALUE
          sample 3000 VALUE
          sample 6000 VALUE
          sample 8000 90000
    )";
    const auto with = [&](const std::string& name, const std::string& value) {
        std::string text(kLast);
        text.replace(text.find('%'), 1, name);
        for (auto at = text.find("VALUE"); at != text.npos; at = text.find("VALUE"))
            text.replace(at, 5, value);
        return lastOf(after(text));
    };
    EXPECT_THAT(ids(with("involuntary context switches", "5")), ElementsAre("slow_step.contention"));
    EXPECT_THAT(ids(with("page faults", "5")), ElementsAre("slow_step.page_faults"));
    EXPECT_THAT(ids(with("page faults", "60000")), ElementsAre("slow_step.idle")) << "not twice the usual rate";
}

TEST(SlowStep, ValidationInAStepIsNamed)
{
    const SlowStep slow = lastOf(after(R"(
          step 6 6000 3000
          phase "data wait" 6000 100
          op aten::linear 6100 500
          call cudaLaunchKernel 6150 10 corr=9
          phase validation 7000 1900
        stream 0 7
          kernel gemm 6200 300 corr=9
          kernel gemm 7100 1000
    )"));
    ASSERT_FALSE(slow.causes.empty());
    EXPECT_EQ(slow.causes[0].reason.id, "slow_step.validation");
}

TEST(SlowSteps, AreLongerThanTheMedianByAQuarterAnd250Us)
{
    const auto found = [](std::string_view last) {
        const auto trace = traceFromText("main\n repeat 8 every 2000\n step 0 0 2000\n end\n " + std::string(last));
        return slowSteps(findSteps(*trace));
    };
    EXPECT_THAT(found("step 8 16000 2500"), IsEmpty());
    EXPECT_THAT(found("step 8 16000 2501\n step 9 19000 2000"), ElementsAre(8U));
}

} // namespace
} // namespace profiler::analysis
