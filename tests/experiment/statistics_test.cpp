#include "advisor/experiment/statistics.h"
#include "tests/experiment/simulation.h"

#include <cmath>
#include <gmock/gmock.h>

namespace advisor {
namespace {

using experiment_test::Machine;
using experiment_test::simulate;

TEST(RatioInterval, IsStudentsOnTheLogarithms)
{
    const std::vector<double> logs = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06};
    // Mean 0.035, standard deviation 0.0187083, its error 0.00763763; t(0.975, 5) = 2.570582.
    const Interval interval = ratioInterval(logs, 0.05);
    EXPECT_NEAR(std::log(interval.value), 0.035, 1e-12);
    EXPECT_NEAR(std::log(interval.low), 0.035 - 2.570582 * 0.00763763, 1e-7);
    EXPECT_NEAR(std::log(interval.high), 0.035 + 2.570582 * 0.00763763, 1e-7);
}

TEST(RatioInterval, OfOnePairIsUnbounded)
{
    const Interval interval = ratioInterval(std::vector{std::log(2.0)});
    EXPECT_DOUBLE_EQ(interval.value, 2);
    EXPECT_EQ(interval.low, 0);
    EXPECT_TRUE(std::isinf(interval.high));
}

TEST(StartMeans, LeaveOutAStartThatWasCutShort)
{
    const std::vector<Pair> pairs = {{1, 1, 0.1}, {1, 1, 0.3}, {1, 1, 0.5}, {1, 1, 0.7}, {1, 1, 9}};
    EXPECT_THAT(startMeans(pairs), testing::ElementsAre(testing::DoubleEq(0.2), testing::DoubleEq(0.6)));
}

TEST(Looks, AreThePlannedOnes)
{
    EXPECT_FALSE(isLook(5));
    EXPECT_TRUE(isLook(6));
    EXPECT_FALSE(isLook(7));
    EXPECT_TRUE(isLook(12));
    EXPECT_TRUE(isLook(20));
}

TEST(Decide, PaysAndCostsMustClearOnePercent)
{
    EXPECT_EQ(decide({1.05, 1.0101, 1.09}, false), Verdict::Pays);
    EXPECT_EQ(decide({1.05, 1.0099, 1.09}, false), std::nullopt);
    EXPECT_EQ(decide({0.95, 0.91, 1 / 1.0101}, false), Verdict::Costs);
    EXPECT_EQ(decide({0.95, 0.91, 1 / 1.0099}, false), std::nullopt);
}

TEST(Decide, ANarrowIntervalAroundOneDoesNotPay)
{
    EXPECT_EQ(decide({1, 0.991, 1.0099}, false), Verdict::DoesNotPay);
    EXPECT_EQ(decide({1, 0.989, 1.0099}, false), std::nullopt);
    EXPECT_EQ(decide({1, 0.991, 1.0101}, false), std::nullopt);
}

TEST(Decide, TheLastLookSaysWhetherAGainMayBeMissed)
{
    EXPECT_EQ(decide({1.01, 0.98, 1.049}, true), Verdict::DoesNotPay);
    EXPECT_EQ(decide({1.01, 0.98, 1.051}, true), Verdict::Inconclusive);
}

double claims(const Machine& machine, double trueRatio, int experiments, bool (*claim)(Verdict))
{
    int claimed = 0;
    for (int i = 0; i < experiments; ++i)
        claimed += claim(simulate(machine, trueRatio, static_cast<std::uint64_t>(i)).verdict) ? 1 : 0;
    return static_cast<double>(claimed) / experiments;
}

bool differs(Verdict verdict)
{
    return verdict == Verdict::Pays || verdict == Verdict::Costs;
}

TEST(Simulated, AnAAndAnADifferAtMostOneTimeInTwenty)
{
    EXPECT_LE(claims(experiment_test::kQuiet, 1, 1000, differs), 0.05);
    EXPECT_LE(claims(experiment_test::kUsual, 1, 1000, differs), 0.05);
    EXPECT_LE(claims(experiment_test::kFickle, 1, 1000, differs), 0.05);
    EXPECT_LE(claims(experiment_test::kNoisy, 1, 1000, differs), 0.05);
}

TEST(Simulated, FivePercentAreFound)
{
    const auto pays = [](Verdict verdict) { return verdict == Verdict::Pays; };
    EXPECT_GE(claims(experiment_test::kQuiet, 1.05, 1000, pays), 0.99);
    EXPECT_GE(claims(experiment_test::kUsual, 1.05, 1000, pays), 0.85);
}

TEST(Simulated, FivePercentSlowerCosts)
{
    EXPECT_GE(
        claims(experiment_test::kUsual, 1 / 1.05, 1000, [](Verdict verdict) { return verdict == Verdict::Costs; }),
        0.85);
}

TEST(Simulated, TheIntervalCoversTheTruthWheneverItStopped)
{
    for (const Machine& machine :
         {experiment_test::kQuiet, experiment_test::kUsual, experiment_test::kFickle, experiment_test::kNoisy})
        for (const double truth : {1.0, 1.03, 1.3}) {
            int covered = 0;
            for (std::uint64_t i = 0; i < 1000; ++i) {
                const auto [verdict, ratio, pairs] = simulate(machine, truth, i);
                covered += ratio.low <= truth && truth <= ratio.high ? 1 : 0;
            }
            EXPECT_GE(covered, 940) << truth << " " << machine.noise;
        }
}

// The reason why a start is one observation: its pairs agree with each other, and are wrong together.
TEST(Simulated, CountingEachPairWouldClaimMore)
{
    int pairs = 0, starts = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        pairs += experiment_test::pairsClaim(experiment_test::kFickle, i) ? 1 : 0;
        starts += differs(simulate(experiment_test::kFickle, 1, i).verdict) ? 1 : 0;
    }
    EXPECT_LE(starts, 50);
    EXPECT_GT(pairs, 2 * starts);
}

// The reason for planned looks: peeking after every pair finds a difference where there is none.
TEST(Simulated, PeekingAfterEveryPairWouldClaimMore)
{
    int peeked = 0, planned = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        peeked += experiment_test::peekingExcludesOne(experiment_test::kUsual, i) ? 1 : 0;
        planned += differs(simulate(experiment_test::kUsual, 1, i).verdict) ? 1 : 0;
    }
    EXPECT_GT(peeked, 150);
    EXPECT_LT(planned, 50);
}

} // namespace
} // namespace advisor
