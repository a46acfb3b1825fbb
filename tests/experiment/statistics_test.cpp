#include "advisor/experiment/statistics.h"
#include "tests/experiment/simulation.h"

#include <cmath>
#include <cstdio>
#include <gmock/gmock.h>
#include <string_view>

namespace advisor {
namespace {

using experiment_test::Machine;
using experiment_test::simulate;

TEST(RatioInterval, IsStudentsTOfTheLogarithms)
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

TEST(StartMeans, ExcludeAnIncompleteStart)
{
    const std::vector<Pair> pairs = {{1, 1, 0.1}, {1, 1, 0.3}, {1, 1, 0.5}, {1, 1, 0.7}, {1, 1, 9}};
    EXPECT_THAT(startMeans(pairs), testing::ElementsAre(testing::DoubleEq(0.2), testing::DoubleEq(0.6)));
}

TEST(PairedInterval, IsStudentsTOfTheMeansOfTheStarts)
{
    // Starts differ by more than their pairs: means 0.2, 0.6 and 0.7.
    const std::vector<Pair> pairs = {{1, 1, 0.19}, {1, 1, 0.21}, {1, 1, 0.59}, {1, 1, 0.61}, {1, 1, 0.69}, {1, 1, 0.71}};
    const Interval interval = pairedInterval(pairs), expected = ratioInterval(std::vector{0.2, 0.6, 0.7});
    EXPECT_NEAR(interval.value, expected.value, 1e-12);
    EXPECT_NEAR(interval.low, expected.low, 1e-12);
    EXPECT_NEAR(interval.high, expected.high, 1e-12);
}

// Three means that agree by chance do not make an interval narrow if the pairs behind them disagree.
TEST(PairedInterval, StartsThatAgreeByChanceProveNothing)
{
    const std::vector<Pair> pairs = {{1, 1, 0.00}, {1, 1, 0.06}, {1, 1, 0.061}, {1, 1, 0.001}, {1, 1, 0.00}, {1, 1, 0.061}};
    EXPECT_GT(ratioInterval(startMeans(pairs)).low, kMinimumEffect);
    const Interval interval = pairedInterval(pairs);
    EXPECT_LT(interval.low, 1);
    EXPECT_EQ(decide(interval, false), std::nullopt);
    EXPECT_NEAR(std::log(interval.value), 0.0305, 1e-9);
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
        claimed += claim(simulate(machine, {.speedUp = trueRatio}, static_cast<std::uint64_t>(i)).verdict) ? 1 : 0;
    return static_cast<double>(claimed) / experiments;
}

bool differs(Verdict verdict)
{
    return verdict == Verdict::Pays || verdict == Verdict::Costs;
}
bool pays(Verdict verdict)
{
    return verdict == Verdict::Pays;
}
bool costs(Verdict verdict)
{
    return verdict == Verdict::Costs;
}

constexpr int kFewRuns = 200, kRuns = 1000;
constexpr Machine kMachines[] = {experiment_test::kQuiet, experiment_test::kUsual, experiment_test::kFickle,
                                 experiment_test::kNoisy};

TEST(Simulated, IdenticalArmsDifferAtMostOneTimeInTwenty)
{
    std::printf("simulated A/A experiments that claim a difference\n%-8s of %d  of %d\n", "machine", kFewRuns, kRuns);
    for (const Machine& machine : kMachines) {
        const double few = claims(machine, 1, kFewRuns, differs), all = claims(machine, 1, kRuns, differs);
        std::printf("%-8s %.1f %%  %.1f %%\n", machine.name, 100 * few, 100 * all);
        EXPECT_LE(few, 0.05) << machine.name;
        EXPECT_LE(all, 0.05) << machine.name;
    }
}

TEST(Simulated, FivePercentAreFoundInNineOfTenCases)
{
    std::printf("%d simulated experiments with a true difference of 5 %%: found\n%-8s faster   slower\n", kRuns,
                "machine");
    for (const Machine& machine : kMachines) {
        const double faster = claims(machine, 1.05, kRuns, pays), slower = claims(machine, 1 / 1.05, kRuns, costs);
        std::printf("%-8s %.1f %%   %.1f %%\n", machine.name, 100 * faster, 100 * slower);
        if (machine.name == std::string_view("noisy"))
            continue; // turns that vary by 17 %: it reports that it cannot decide
        EXPECT_GE(faster, 0.9) << machine.name;
        EXPECT_GE(slower, 0.9) << machine.name;
    }
}

TEST(Simulated, TheIntervalCoversTheTruthWheneverItStopped)
{
    for (const Machine& machine : kMachines)
        for (const double truth : {1.0, 1.03, 1.3}) {
            int covered = 0;
            for (std::uint64_t i = 0; i < kRuns; ++i) {
                const Interval ratio = simulate(machine, {.speedUp = truth}, i).judgedRatio;
                covered += ratio.low <= truth && truth <= ratio.high ? 1 : 0;
            }
            EXPECT_GE(covered, 0.93 * kRuns) << truth << " " << machine.name;
        }
}

TEST(Simulated, DisturbedPairsAreRepeatedAndCounted)
{
    std::size_t repeated = 0, kept = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
        const NoiseReport quiet = simulate(experiment_test::kQuiet, {}, i).noise;
        EXPECT_EQ(quiet.repeatedPairs, 0U);
        const NoiseReport noise = simulate(experiment_test::kNoisy, {}, i).noise;
        EXPECT_LE(noise.repeatedPairs, kMostRepeatedPairs);
        repeated += noise.repeatedPairs;
        kept += noise.disturbedPairs;
    }
    EXPECT_GT(repeated, 50U);
    EXPECT_LT(kept, repeated);
}

// The reason why a start is one observation: its pairs agree with each other, and are wrong together.
TEST(Simulated, CountingEachPairWouldClaimMore)
{
    int pairs = 0, starts = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        pairs += experiment_test::pairsClaim(experiment_test::kFickle, i) ? 1 : 0;
        starts += differs(simulate(experiment_test::kFickle, {}, i).verdict) ? 1 : 0;
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
        planned += differs(simulate(experiment_test::kUsual, {}, i).verdict) ? 1 : 0;
    }
    EXPECT_GT(peeked, 150);
    EXPECT_LT(planned, 50);
}

} // namespace
} // namespace advisor
