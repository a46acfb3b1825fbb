// Loader workers that do not share the work evenly.
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

constexpr std::string_view kRule = "loader_balance";

/// Ten steps of 1,000 µs that wait `waitUs` for data; worker 0 loads a batch in each in 300 µs, worker 1 in `slowUs`.
std::string loading(int waitUs, int slowUs)
{
    return fmt::format(
        "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase \"data wait\" 0 {0}\nend\n"
        "worker 0\nrepeat 10 every 1000\nstage read 5 200\nstage collate 205 100\nwait room 305 600\nend\n"
        "worker 1\nrepeat 10 every 1000\nstage read 5 {1}\nstage collate {2} 100\nwait room {3} 2\nend\n",
        waitUs, slowUs - 100, slowUs - 95, slowUs + 5);
}

TEST(LoaderBalanceRule, TheSlowWorkerIsNamed)
{
    const Advice advice = judge(kRule, loading(200, 950));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("loader.balance.slow_worker"));
    EXPECT_THAT(advice.reason, HasText("worker", "loader worker 1"));
    EXPECT_THAT(advice.reason, HasNumber("time", DoubleNear(950, 0.1)));
    EXPECT_THAT(advice.reason, HasNumber("ratio", DoubleNear(1.52, 0.05)));
    EXPECT_THAT(advice.reason, HasNumber("workers", 2));
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.2, 1e-3)));
    EXPECT_NEAR(advice.timeShare, 0.2, 1e-3);
    ASSERT_GE(advice.evidence.size(), 2U);
    EXPECT_EQ(advice.evidence[0].name, "read") << "of the slow one";
    EXPECT_EQ(advice.evidence[1].name, "data wait");
    EXPECT_FALSE(advice.whyNoPrediction.empty());
}

/// The same loading without step marks, for a device that waits for batches with unequal kernels.
std::string loadingWithoutSteps(int slowUs)
{
    std::string text = "device 0 gpu\nmain\nrepeat 10 every 1000\nphase \"data wait\" 0 200\nend\nstream 0 7\n"
                       "repeat 10 every 1000\nkernel a 200 800\nend\n";
    return text + loading(0, slowUs).substr(loading(0, slowUs).find("worker 0"));
}

TEST(LoaderBalanceRule, WithoutStepsTheDevicesIdleTimeIsUsed)
{
    const Advice advice = Judged(kRule, loadingWithoutSteps(950), {}, true).advice();
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("loader.balance.slow_worker_without_steps"));
    EXPECT_THAT(advice.reason, HasText("worker", "loader worker 1"));
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.18, 0.03)));
    EXPECT_NEAR(advice.timeShare, 0.18, 0.03);
    EXPECT_EQ(Judged(kRule, loadingWithoutSteps(500), {}, true).advice().state, State::Silent);
}

TEST(AugmentDevice, WithoutStepsTheDevicesIdleTimeIsUsed)
{
    const auto judged = [](int augmentUs) {
        return Judged("augment_device",
                      fmt::format("device 0 gpu\nmain\nrepeat 10 every 1000\nphase \"data wait\" 0 200\nend\n"
                                  "stream 0 7\nrepeat 10 every 1000\nkernel a 200 800\nend\n"
                                  "worker 0\nrepeat 10 every 1000\nstage read 0 {}\nstage augment {} {}\n"
                                  "stage collate 800 100\nend\n",
                                  800 - augmentUs, 800 - augmentUs, augmentUs),
                      {}, true)
            .advice();
    };
    const Advice advice = judged(500);
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason, HasId("augment.device.waits_without_steps"));
    EXPECT_THAT(advice.reason, HasNumber("share", DoubleNear(0.56, 0.03)));
    EXPECT_FALSE(advice.saving);
    EXPECT_FALSE(advice.whyNoPrediction.empty());
    EXPECT_THAT(judged(100).reason, HasId("augment.device.small_part"));
}

TEST(LoaderBalanceRule, EvenWorkersAreSilent)
{
    const Advice advice = judge(kRule, loading(200, 500));
    EXPECT_EQ(advice.state, State::Silent);
    EXPECT_THAT(advice.reason, HasId("loader.balance.even"));
}

TEST(LoaderBalanceRule, IsSilentIfTheStepDoesNotWait)
{
    EXPECT_EQ(judge(kRule, loading(40, 950)).state, State::Silent);
}

TEST(LoaderBalanceRule, OneWorkerHasNothingToBalance)
{
    EXPECT_EQ(judge(kRule, "main\nrepeat 10 every 1000\nstep 0 0 1000\nphase \"data wait\" 0 300\nend\nworker 0\n"
                           "repeat 10 every 1000\nstage read 5 700\nstage collate 705 100\nend\n")
                  .state,
              State::Silent);
}

TEST(LoaderBalanceRule, WithoutWorkersThereIsNothingToBalance)
{
    EXPECT_THAT(judge(kRule, "format stepscope\n" + cpuRun(1000, 600)).reason, HasId("loader.balance.no_workers"));
    EXPECT_THAT(judge(kRule, "meta loader.workers 0\nformat pytorch\n" + cpuRun(1000, 600)).reason,
                HasId("loader.balance.no_workers"));
}

TEST(LoaderBalanceRule, UnrecordedWorkersAreUnknown)
{
    const Advice advice = judge(kRule, "format pytorch\n" + cpuRun(1000, 600));
    EXPECT_EQ(advice.state, State::CannotTell);
    EXPECT_THAT(advice.reason, HasId("loader.balance.unknown"));
    EXPECT_THAT(advice.reason, HasText("why", HasSubstr("no work of loader workers")));
}

} // namespace
} // namespace advisor_test
