// Kernels' code that is loaded at their first launch, and what waits for it.
#include "tests/advisor/rules_fixtures.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;
using testing::HasSubstr;

constexpr std::string_view kRule = "host_lazy_loading";

/// Ten steps of 1,000 µs, in each a launch at 600 of 300 µs of work; and more on the host's thread.
std::string training(std::string_view inEach, std::string_view once = "")
{
    return fmt::format("main\nrepeat 10 every 1000\nstep 0 0 1000\nop aten::add 590 20\n"
                       "call cudaLaunchKernel 600 5 corr=1\n{}\nend\n{}\nstream 0 7\nrepeat 10 every 1000\n"
                       "kernel sgemm 610 300 corr=1\nend\n",
                       inEach, once);
}

TEST(LazyLoading, WhatComesBackInEachStepIsPredictedByReplay)
{
    const Advice advice = judge(kRule, training("driver cuModuleLoadData 100 400"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason.text, HasSubstr("9 loads, in 9 of 9 steps")) << "the first is a beginning";
    EXPECT_THAT(advice.reason.text, HasSubstr("40.4 %")) << "to the last kernel";
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_NEAR(advice.saving->mid, 400, 1);
    EXPECT_EQ(advice.evidence.front().name, "cuModuleLoadData");
    EXPECT_FALSE(advice.toggle);
    EXPECT_FALSE(advice.whyNoToggle.empty());
}

TEST(LazyLoading, InOneStepItIsSaidThatItMayNotComeBack)
{
    const Advice advice = judge(kRule, training("", "driver cuLibraryLoadData 5000 580"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason.text, HasSubstr("1 load, in 1 of 9 steps"));
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction.text, HasSubstr("in one step"));
}

TEST(LazyLoading, InFirstStepsItIsSilent)
{
    const Advice advice = judge(kRule, training("", "driver cuModuleLoadData 100 400"));
    EXPECT_EQ(advice.state, State::Silent);
    EXPECT_THAT(advice.reason.text, HasSubstr("first steps alone (400 µs"));
}

TEST(LazyLoading, ATwentiethOfTheTimeIsTheLeast)
{
    EXPECT_EQ(judge(kRule, training("driver cuModuleLoadData 100 40")).state, State::Silent);
    EXPECT_EQ(judge(kRule, training("driver cuModuleLoadData 100 60")).state, State::Fires);
}

TEST(LazyLoading, WhatADeviceDoesNotWaitForIsNoLoss)
{
    EXPECT_EQ(judge(kRule, training("driver cuModuleLoadData 615 290")).state, State::Silent);
}

TEST(LazyLoading, WhatTheProfilerCallsOverheadCountsToo)
{
    const Advice advice = judge(kRule, training("overhead \"Lazy Function Loading\" 100 400"));
    EXPECT_EQ(advice.state, State::Fires) << advice.reason;
}

TEST(LazyLoading, WithoutStepsNothingIsPredicted)
{
    const Advice advice = judge(kRule, "main\nop aten::add 0 20\ndriver cuModuleLoadData 500 400\nstream 0 7\n"
                                       "kernel sgemm 10 300\nkernel sgemm 950 300\n");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.whyNoPrediction.text, HasSubstr("no step marks"));
}

TEST(LazyLoading, WithoutLoadsItIsSilentAndWithoutTheHostItCannotTell)
{
    EXPECT_EQ(judge(kRule, training("")).state, State::Silent);
    EXPECT_EQ(judge(kRule, "stream 0 7\nkernel sgemm 0 300\n").state, State::CannotTell);
}

} // namespace
} // namespace advisor_test
