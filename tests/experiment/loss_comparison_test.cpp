#include "advisor/experiment/loss_comparison.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace advisor {
namespace {

/// One step from each seed.
LossComparison::Result compare(const std::vector<double>& a, const std::vector<double>& b)
{
    LossComparison comparison;
    for (std::size_t i = 0; i < a.size(); ++i) {
        comparison.nextSeed();
        comparison.add(std::span(&a[i], 1), std::span(&b[i], 1));
    }
    return comparison.result();
}

TEST(LossComparison, TheToleranceIsWhatOtherSeedsDo)
{
    // Standard deviation 0.1; that of a difference of means of three 0.1 √(2/3); the pairs do not differ.
    const auto result = compare({1.9, 2.0, 2.1}, {1.9, 2.0, 2.1});
    EXPECT_TRUE(result.parity);
    EXPECT_DOUBLE_EQ(result.a, 2);
    EXPECT_NEAR(result.tolerance, 1.959964 * 0.1 * std::sqrt(2.0 / 3), 1e-6);
    EXPECT_EQ(result.seeds, 3U);
}

TEST(LossComparison, PairsThatShareNoLuckAreJudgedAsTwoSamples)
{
    // t(0.975, 4) = 2.776445.
    EXPECT_NEAR(compare({1.9, 2.0, 2.1}, {2.1, 2.0, 1.9}).tolerance, 2.776445 * 0.1 * std::sqrt(2.0 / 3), 1e-6);
}

TEST(LossComparison, AnArmThatIsLostFromOneSeedDoesNotExcuseItself)
{
    const auto result = compare({1.9, 2.0, 2.1}, {1.9, 2.0, 9.1});
    EXPECT_FALSE(result.parity);
    // The arm counts with four times the baseline's variance, so the pooled one is two and a half times that.
    EXPECT_NEAR(result.tolerance, 2.776445 * 0.1 * std::sqrt(2.5 * 2.0 / 3), 1e-5);
}

TEST(LossComparison, AWorseArmThatIsAlsoLessSteadyDoesNotExcuseItself)
{
    EXPECT_FALSE(compare({1.9, 2.0, 2.1}, {2.2, 2.5, 2.9}).parity);
}

TEST(LossComparison, OfManySeedsChanceBoundsTheSpread)
{
    std::vector<double> a, b;
    for (int seed = 0; seed < 20; ++seed) {
        a.push_back(seed % 2 == 0 ? 1.9 : 2.1);
        b.push_back(seed % 2 == 0 ? 2.2 : 1.8); // four times the variance, and against the baseline's luck
    }
    // F(0.95; 19, 19) = 2.168252 and t(0.975, 38) = 2.024394; the baseline's variance is 0.2 / 19.
    EXPECT_NEAR(compare(a, b).tolerance, 2.024394 * std::sqrt((1 + 2.168252) / 2 * 0.2 / 19 * 2 / 20), 1e-5);
}

TEST(LossComparison, TheToleranceIsMetOrNot)
{
    const double tolerance = compare({1.9, 2.0, 2.1}, {1.9, 2.0, 2.1}).tolerance;
    for (const double sign : {-1.0, 1.0}) {
        const double inside = sign * 0.99 * tolerance, outside = sign * 1.01 * tolerance;
        EXPECT_TRUE(compare({1.9, 2.0, 2.1}, {1.9 + inside, 2.0 + inside, 2.1 + inside}).parity);
        EXPECT_FALSE(compare({1.9, 2.0, 2.1}, {1.9 + outside, 2.0 + outside, 2.1 + outside}).parity);
    }
}

TEST(LossComparison, ASeedsStepsAreOneObservation)
{
    LossComparison comparison;
    for (const double loss : {1.0, 3.0}) {
        comparison.nextSeed();
        comparison.add(std::vector{loss, loss + 1}, std::vector{loss, loss + 1});
        comparison.add(std::vector{loss + 2}, std::vector{loss + 2});
    }
    const auto result = comparison.result();
    EXPECT_EQ(result.seeds, 2U);
    EXPECT_DOUBLE_EQ(result.a, 3) << "of 2 and 4";
    EXPECT_NEAR(result.tolerance, 1.959964 * std::sqrt(2.0), 1e-6);
}

TEST(LossComparison, OfSeedsThatAllSayTheSameRoundingIsTheTolerance)
{
    EXPECT_TRUE(compare({2, 2, 2}, {2.0001, 2.0001, 2.0001}).parity);
    EXPECT_FALSE(compare({2, 2, 2}, {2.001, 2.001, 2.001}).parity);
}

TEST(LossComparison, OneSeedHasNoTolerance)
{
    const auto result = compare({1}, {2});
    EXPECT_EQ(result.tolerance, 0);
    EXPECT_TRUE(result.parity) << "nothing is known of the spread";
}

TEST(LossComparison, WhatIsNotFiniteDoesNotAgree)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(compare({1}, {nan}).parity);
    EXPECT_FALSE(compare({1, 1}, {1, nan}).parity);
    EXPECT_FALSE(compare({1, 1}, {1, infinite}).parity);
    EXPECT_FALSE(compare({1, infinite}, {1, infinite}).parity);
}

TEST(LossComparison, TurnsOfDifferentLengthAreLeftOut)
{
    LossComparison comparison;
    comparison.nextSeed();
    comparison.add(std::vector{1.0, 1.0}, std::vector{1.0});
    EXPECT_EQ(comparison.result().seeds, 0U);
    EXPECT_TRUE(comparison.result().parity);
}

/// How many of a thousand comparisons over `seeds` seeds agree.
/// @param spread  of the baseline from seed to seed
/// @param worse   so much higher is the change's loss on the mean
/// @param shared  both arms have the same luck with a seed, but for a tenth
int agreeing(std::size_t seeds, double spread, double worse, bool shared)
{
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    int agree = 0;
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> a, b;
        for (std::size_t seed = 0; seed < seeds; ++seed) {
            a.push_back(2 + spread * normal(random));
            b.push_back(worse + (shared ? a.back() + 0.1 * spread * normal(random) : 2 + spread * normal(random)));
        }
        agree += compare(a, b).parity ? 1 : 0;
    }
    return agree;
}

TEST(LossComparisonSimulated, AnAAgainstAnAAgrees)
{
    for (const std::size_t seeds : {3U, 6U, 10U}) {
        EXPECT_GE(agreeing(seeds, 0.05, 0, true), 999) << seeds;
        // Even if nothing of a seed's luck were common to both arms: of many seeds about 945 are expected, with a
        // deviation of 7. Of three the variances of like arms are often more than four times apart, which counts as
        // four: about 920.
        EXPECT_GE(agreeing(seeds, 0.05, 0, false), seeds == 3 ? 900 : 925) << seeds;
    }
}

TEST(LossComparisonSimulated, ARealDeteriorationIsFound)
{
    // Two standard deviations of the seeds, over three of them: the baseline's spread alone would let 720 pass.
    EXPECT_LE(agreeing(3, 0.05, 0.1, true), 350);
    // Ten percent of the loss, where another seed makes one percent; and three where six seeds were trained.
    EXPECT_LE(agreeing(3, 0.02, 0.2, true), 10);
    EXPECT_LE(agreeing(6, 0.02, 0.06, true), 5);
    EXPECT_LE(agreeing(10, 0.02, 0.06, true), 5);
}

TEST(LossComparisonSimulated, WhatStaysWithinTheSeedsSpreadIsLetPass)
{
    EXPECT_GE(agreeing(3, 0.05, 0.01, true), 950);
    EXPECT_GE(agreeing(10, 0.05, 0.01, true), 950);
}

TEST(SeedOfStart, FollowsTheConfigurationsOwn)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("run.seed", "2147483647"));
    EXPECT_EQ(withSeedOfStart(config, 0).text("run.seed"), "2147483647");
    EXPECT_EQ(withSeedOfStart(config, 2).text("run.seed"), "1") << "the knob's range goes on from its beginning";
}

TEST(SameBatches, NotWithAnotherBatchSizeOrOtherData)
{
    EXPECT_TRUE(sameBatches({}));
    EXPECT_TRUE(sameBatches({{"loader.workers", "0", "2"}}));
    EXPECT_FALSE(sameBatches({{"loader.workers", "0", "2"}, {"batch.size", "32", "64"}}));
    EXPECT_FALSE(sameBatches({{"dataset.samples", "2000", "4000"}}));
    EXPECT_FALSE(sameBatches({{"gradient.accumulation", "1", "4"}})) << "four batches to each loss";
    EXPECT_FALSE(sameBatches({{"batch.find_max", "false", "true"}}));
    EXPECT_TRUE(sameBatches({{"parallel.kind", "none", "dp"}})) << "parts of one batch";
    EXPECT_FALSE(sameBatches({{"parallel.kind", "dp", "ddp"}})) << "a batch for each rank";
    EXPECT_FALSE(sameBatches({{"parallel.kind", "", "dp"}})) << "from what is not known";
    EXPECT_FALSE(sameBatches({{"parallel.local_ranks", "2", "4"}}));
}

} // namespace
} // namespace advisor
