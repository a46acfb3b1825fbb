// Ranks that wait for each other, and the rank that they wait for.
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
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

constexpr std::string_view kRule = "comm_stragglers";

/// Ten steps of 1,000 µs on two devices, which compute until they enter a collective that ends at 900 µs.
/// @param late device that computes until 850 µs in a step of this number; the other until 850 - `wait`
template <class Late>
std::string ranks(int wait, Late late, std::string_view hidden = "")
{
    std::string text = "main\n";
    for (int step = 0; step < 10; ++step)
        text += fmt::format("step {} {} 1000\n", step, step * 1000);
    for (int device = 0; device < 2; ++device) {
        text += fmt::format("stream {} 7\n", device);
        for (int step = 0; step < 10; ++step) {
            const int begin = 850 - (late(step) == device ? 0 : wait);
            text += fmt::format("kernel sgemm {} {}\nkernel ncclDevKernel_AllReduce {} {}\n", step * 1000, begin,
                                step * 1000 + begin, 900 - begin);
        }
        if (!hidden.empty())
            text += fmt::format("stream {} 9\nrepeat 10 every 1000\n{}\nend\n", device, hidden);
    }
    return text;
}

int always(int /*step*/)
{
    return 1;
}

TEST(StragglersRule, TheLateRankIsNamed)
{
    const Advice advice = judge(kRule, ranks(300, always));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("comm.stragglers.late_rank"));
    EXPECT_THAT(advice.reason, HasNumber("device", 1));
    EXPECT_THAT(advice.reason, HasNumber("last", 9));
    EXPECT_THAT(advice.reason, HasNumber("collectives", 9));
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.15, 1e-3))) << "one waits 300 µs, the other not at all";
    EXPECT_THAT(advice.whyNoPrediction, HasNumber("wait", DoubleNear(150, 0.5)));
    EXPECT_THAT(advice.whyNoPrediction, HasText("unit", "step"));
    EXPECT_FALSE(advice.evidence.empty());
    EXPECT_EQ(advice.evidence.front().name, "ncclDevKernel_AllReduce");
    EXPECT_NEAR(advice.timeShare, 0.15, 1e-3);
}

TEST(StragglersRule, RanksThatTakeTurnsBeingLateAreReported)
{
    const Advice advice = judge(kRule, ranks(300, [](int step) { return step % 2; }));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("comm.stragglers.turns"));
}

TEST(StragglersRule, FiresFromFivePercentOfTheTime)
{
    EXPECT_EQ(judge(kRule, ranks(90, always)).state, State::Silent);
    EXPECT_EQ(judge(kRule, ranks(110, always)).state, State::Fires);
}

TEST(StragglersRule, WaitsHiddenByComputeCostNothing)
{
    EXPECT_EQ(judge(kRule, ranks(300, always, "kernel sgemm 400 500")).state, State::Silent);
}

TEST(StragglersRule, OneRankAloneCannotTell)
{
    const Advice advice = judge(kRule, "main\nrepeat 10 every 1000\nstep 0 0 1000\nend\nstream 0 7\n"
                                       "repeat 10 every 1000\nkernel sgemm 0 500\nkernel ncclDevKernel_AllReduce 500 "
                                       "300\nend\n");
    EXPECT_EQ(advice.state, State::CannotTell);
    EXPECT_THAT(advice.reason, HasText("why", HasSubstr("only one rank")));
}

TEST(StragglersRule, WithoutCommunicationItIsSilent)
{
    EXPECT_EQ(judge(kRule, gpuRun(30, 20)).state, State::Silent);
}

} // namespace
} // namespace advisor_test
