// Which slow steps are caused by the training itself, and what they cost.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace advisor_test {
namespace {

using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using testing::DoubleNear;
using testing::HasSubstr;

std::string profiled(const std::vector<int>& us)
{
    std::string text = "format pytorch-json\nmain\n";
    int at = 0, index = 3;
    for (const int duration : us) {
        text += fmt::format("step {} {} {}\n", index++, at, duration);
        at += duration;
    }
    return text;
}

TEST(StepVarianceClaims, ASlowFirstStepOfAProfileIsWarmUp)
{
    EXPECT_EQ(judge("step_variance", profiled({9000, 1000, 1010, 1020, 1000, 1010})).state, State::Silent);
    EXPECT_EQ(judge("step_variance", profiled({1000, 1010, 1800, 1000, 1700, 1010})).state, State::Fires);
}

/// This many steps of 30 ms, except for those with these numbers, which take this long.
std::vector<int> slowAt(std::size_t steps, std::initializer_list<std::size_t> slow, int us = 52'000)
{
    std::vector<int> durations;
    for (std::size_t i = 0; i < steps; ++i)
        durations.push_back(30'000 + 100 * static_cast<int>(i % 3));
    for (const std::size_t at : slow)
        durations[at] = us;
    return durations;
}

TEST(StepVarianceClaims, ASlowdownThatDoesNotRecurMayBeTheMachine)
{
    const advisor::Advice once = judge("step_variance", profiled(slowAt(18, {9})));
    EXPECT_EQ(once.state, State::Silent);
    EXPECT_THAT(once.reason, HasId("step.variance.rare"));
    EXPECT_THAT(once.reason, HasNumber("slow", 1));
    EXPECT_THAT(once.reason, HasNumber("steps", 18));
    EXPECT_THAT(once.reason, HasNumber("limit", DoubleNear(37'600, 50)));
    const advisor::Advice oneOfFew = judge("step_variance", profiled(slowAt(6, {3}, 300'000)));
    EXPECT_EQ(oneOfFew.state, State::CannotTell) << "however slow";
    EXPECT_THAT(oneOfFew.reason, HasId("step.variance.once"));
    EXPECT_EQ(judge("step_variance", profiled(slowAt(18, {9, 10, 11, 12}))).state, State::CannotTell)
        << "one after the other: it came once";
    EXPECT_EQ(judge("step_variance", profiled(slowAt(18, {4, 9}))).state, State::Silent) << "twice in so many";
    EXPECT_EQ(judge("step_variance", profiled(slowAt(10, {4, 7}))).state, State::Fires) << "twice in few";
    EXPECT_EQ(judge("step_variance", profiled(slowAt(18, {4, 9, 14}))).state, State::Fires);
}

TEST(StepVarianceClaims, ATailCountsWithItsMinimumCost)
{
    const advisor::Advice rare = judge("step_variance", profiled(slowAt(400, {50, 150, 250})));
    EXPECT_EQ(rare.state, State::Silent);
    EXPECT_THAT(rare.reason, HasId("step.variance.cheap"));
    EXPECT_EQ(judge("step_variance", profiled(slowAt(400, {50, 150, 250}, 600'000))).state, State::Fires);
    // Every fifth step takes 21.9 ms more; Wilson's interval of 16 in 80 is 12.7 to 30.0 % of the steps.
    std::vector<int> fifth = slowAt(80, {});
    for (std::size_t i = 2; i < fifth.size(); i += 5)
        fifth[i] = 52'000;
    const advisor::Advice often = judge("step_variance", profiled(fifth));
    ASSERT_EQ(often.state, State::Fires);
    ASSERT_TRUE(often.saving);
    EXPECT_NEAR(often.saving->low, 0.1273 * 21'900, 30);
    EXPECT_NEAR(often.saving->mid, 0.2 * 21'900, 30);
    EXPECT_NEAR(often.saving->high, 0.3005 * 21'900, 30);
    EXPECT_NEAR(often.timeShare, 0.2 * 21.9 / 34.5, 0.01);
    EXPECT_EQ(often.evidence.size(), 10U) << "the slow ones";
}

TEST(StepVarianceClaims, TheMedianDoesNotHideThatEverySecondStepIsSlow)
{
    std::vector<int> second = slowAt(40, {});
    for (std::size_t i = 1; i < second.size(); i += 2)
        second[i] = 52'000;
    const advisor::Advice advice = judge("step_variance", profiled(second));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasNumber("slow", 20));
    EXPECT_THAT(advice.reason, HasNumber("steps", 40));
    EXPECT_THAT(advice.reason, HasNumber("limit", DoubleNear(41'100, 50)));
    ASSERT_TRUE(advice.saving);
    EXPECT_NEAR(advice.saving->mid, 0.5 * 21'900, 30);
    EXPECT_EQ(judge("step_variance",
                    profiled(slowAt(40, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})))
                  .state,
              State::CannotTell)
        << "it occurred once";
}

TEST(StepVarianceClaims, StepsWithoutAUsualLengthAreNotCalledEven)
{
    const advisor::Advice few =
        judge("step_variance", profiled({180'127, 203'224, 126'188, 205'691, 161'534, 196'075}));
    EXPECT_EQ(few.state, State::CannotTell) << few.reason;
    EXPECT_THAT(few.reason, HasNumber("low", DoubleNear(126'188, 1)));
    EXPECT_THAT(few.reason, HasNumber("high", DoubleNear(205'691, 1)));
    EXPECT_THAT(judge("step_variance", profiled(slowAt(20, {7}, 24'000))).reason, HasId("step.variance.even"))
        << "but for a quick one";
}

} // namespace
} // namespace advisor_test
