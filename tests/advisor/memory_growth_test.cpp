// Memory that is allocated step after step and never freed.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using test_support::HasText;
using testing::DoubleNear;
using testing::HasSubstr;

constexpr std::string_view kRule = "memory_growth";
constexpr double kGigabyte = 1e9;

/// Steps of 1,000 µs, the first of which is warm-up, with two samples in each: the given bytes, and five gigabytes more
/// at its peak.
std::string run(int steps, const std::function<double(int)>& bytes, std::string_view counter = "GPU 0 memory allocated",
                std::string_view more = "")
{
    std::string text = fmt::format("device 0 gpu memory=100000000000\nmain\nrepeat {} every 1000\nstep 0 0 1000\nend\n"
                                   "{}\ncounter \"{}\" unit=bytes\n",
                                   steps, more, counter);
    for (int i = 0; i < steps; ++i)
        text += fmt::format("sample {} {:.0f}\nsample {} {:.0f}\n", i * 1000 + 100, bytes(i), i * 1000 + 600,
                            bytes(i) + 5 * kGigabyte);
    return text;
}

double leak(int step)
{
    return 10 * kGigabyte + 4 * kGigabyte * step;
}

TEST(MemoryGrowth, GrowthPerStepIsReportedWithTheStepsUntilMemoryIsFull)
{
    const Advice advice = judge(kRule, run(6, leak));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("memory.growth.fills"));
    EXPECT_THAT(advice.reason, HasText("counter", "GPU 0 memory allocated"));
    EXPECT_THAT(advice.reason, HasNumber("growth", DoubleNear(4 * kGigabyte, 1)));
    EXPECT_THAT(advice.reason, HasNumber("first", DoubleNear(14 * kGigabyte, 1)));
    EXPECT_THAT(advice.reason, HasNumber("last", DoubleNear(30 * kGigabyte, 1)));
    EXPECT_THAT(advice.reason, HasNumber("steps", 5));
    EXPECT_THAT(advice.reason, HasText("limit", "100 GB"));
    EXPECT_THAT(advice.reason, HasNumber("left", 18));
    EXPECT_EQ(advice.objective, advisor::Objective::Memory);
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->unit, advisor::SavingUnit::Bytes);
    EXPECT_NEAR(advice.saving->mid, 16 * kGigabyte, 1);
    EXPECT_FALSE(advice.toggle);
    ASSERT_GE(advice.evidence.size(), 2U);
    EXPECT_EQ(advice.evidence.front().name, "GPU 0 memory allocated");
    EXPECT_EQ(advice.evidence.front().range.begin, profiler::TraceTime(profiler::Nanoseconds(1'100'000)));
    EXPECT_TRUE(advice.evidence.back().slice);
}

TEST(MemoryGrowth, FourSteadyStepsDoNotShowIt)
{
    const Advice advice = judge(kRule, run(5, leak));
    EXPECT_EQ(advice.state, State::CannotTell);
    EXPECT_THAT(advice.reason, HasId("memory.growth.few_steps"));
    EXPECT_THAT(advice.reason, HasNumber("steps", 4));
}

TEST(MemoryGrowth, NoiseIsNotGrowth)
{
    const auto noise = [](int step) { return 10 * kGigabyte + kGigabyte * ((step * 7) % 5); };
    const Advice advice = judge(kRule, run(30, noise));
    EXPECT_EQ(advice.state, State::Silent) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("memory.growth.stable"));
}

TEST(MemoryGrowth, GrowthThatNoiseCannotHideIsFound)
{
    const auto restless = [](int step) { return 10 * kGigabyte + kGigabyte * step + kGigabyte * ((step * 7) % 5); };
    EXPECT_EQ(judge(kRule, run(40, restless)).state, State::Fires);
}

TEST(MemoryGrowth, MemoryThatFillsUpAndStaysIsNotALeak)
{
    const auto filling = [](int step) { return 10 * kGigabyte + kGigabyte * std::min(step, 12); };
    EXPECT_EQ(judge(kRule, run(20, filling)).state, State::Silent);
    EXPECT_EQ(judge(kRule, run(12, filling)).state, State::Fires) << "so far";
}

TEST(MemoryGrowth, AllocationsOfTheFirstStepsDoNotCount)
{
    EXPECT_EQ(judge(kRule, run(12, [](int step) { return step == 0 ? 1e9 : 30e9; })).state, State::Silent);
}

TEST(MemoryGrowth, CachedMemoryIsNotGrowthIfAllocatedMemoryIsRecorded)
{
    const std::string reserved = run(12, leak, "GPU 0 memory reserved");
    EXPECT_EQ(judge(kRule, reserved).state, State::CannotTell) << "twenty steps if no allocator counters are recorded";
    const Advice both = judge(kRule, reserved + "counter \"GPU 0 memory allocated\" unit=bytes\nrepeat 12 every 1000\n"
                                                "sample 300 9000000000\nend\n");
    EXPECT_EQ(both.state, State::Silent) << both.reason;
}

TEST(MemoryGrowth, ASampledProcessMustGrowMoreAndForLonger)
{
    const auto process = [](double each) { return [each](int step) { return 1e9 + each * step; }; };
    EXPECT_EQ(judge(kRule, run(40, process(1e6), "memory")).state, State::Silent);
    EXPECT_EQ(judge(kRule, run(40, process(4e6), "memory")).state, State::Fires);
}

TEST(MemoryGrowth, AFewBytesPerStepAreIgnored)
{
    EXPECT_EQ(judge(kRule, run(40, [](int step) { return 1e9 + 512.0 * step; })).state, State::Silent);
}

TEST(MemoryGrowth, ChangesSinceTheStartShowGrowthButNotWhenMemoryIsFull)
{
    const Advice advice = judge(kRule, run(10, leak, "GPU 0 memory allocated since the recording began"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("memory.growth.grows"));
}

/// A device that works for this many seconds without step marks; memory is sampled four times per second.
std::string withoutSteps(int seconds, double bytesEachSecond)
{
    std::string text = "device 0 gpu memory=100000000000\nstream 0 7\n";
    for (int i = 0; i < seconds; ++i)
        text += fmt::format("kernel sgemm_{} {} {}\n", i, i * 1'000'000, 1'000'000);
    text += "counter \"GPU 0 memory allocated\" unit=bytes\n";
    for (int i = 0; i < 4 * seconds; ++i)
        text += fmt::format("sample {} {:.0f}\n", 250'000 * i + 1,
                            kGigabyte + bytesEachSecond * (i / 4) + (i % 2 == 0 ? 0 : 5 * kGigabyte));
    return text;
}

TEST(MemoryGrowth, WithoutStepsGrowthIsPerSecond)
{
    const Advice advice = judge(kRule, withoutSteps(40, 1e6));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("memory.growth.grows_over_time"));
    EXPECT_THAT(advice.reason, HasNumber("growth", DoubleNear(1e6, 1e4)));
    ASSERT_TRUE(advice.saving);
    EXPECT_NEAR(advice.saving->mid, 38e6, 1e6);
    const Advice stable = judge(kRule, withoutSteps(40, 0));
    EXPECT_EQ(stable.state, State::Silent) << stable.reason;
    EXPECT_THAT(stable.reason, HasId("memory.growth.stable_over_time"));
}

TEST(MemoryGrowth, AFewSecondsWithoutStepsMayBeOneOfThem)
{
    const Advice advice = judge(kRule, withoutSteps(19, 1e6));
    EXPECT_EQ(advice.state, State::CannotTell);
    EXPECT_THAT(advice.reason, HasId("steps.none.consequence"));
}

TEST(MemoryGrowth, WithoutMemoryOrStepsItCannotTell)
{
    EXPECT_EQ(judge(kRule, "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\n").state, State::CannotTell);
    EXPECT_THAT(judge(kRule, "main\nop aten::mm 0 10\ncounter \"GPU 0 memory allocated\"\nsample 0 5\n").reason,
                HasId("steps.none.consequence"));
}

} // namespace
} // namespace advisor_test
