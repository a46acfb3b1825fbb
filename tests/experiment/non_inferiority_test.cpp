#include "advisor/experiment/losses.h"

#include "advisor/experiment/trainer_arm.h"

#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace advisor {
namespace {

/// One step with each seed.
LossCheck compare(const std::vector<double>& a, const std::vector<double>& b)
{
    SameBatchLosses losses;
    for (std::size_t i = 0; i < a.size(); ++i)
        losses.addSeed(std::span(&a[i], 1), std::span(&b[i], 1));
    return losses.result();
}

TEST(NonInferiority, IsShownIfTheUpperBoundIsBelowTheMargin)
{
    // Mean 0, standard deviation 0.001; t(0.9779, 2) = 4.611, divided by the square root of three: 0.00266.
    const std::vector<double> differences = {-0.001, 0, 0.001};
    const NonInferiority test = testNonInferiority(differences, 0.01);
    EXPECT_NEAR(test.highest, 0.00266, 0.00002);
    EXPECT_EQ(test.kind, LossKind::NotWorse);
    EXPECT_EQ(testNonInferiority(differences, 0.0027).kind, LossKind::NotWorse);
    EXPECT_EQ(testNonInferiority(differences, 0.0026).kind, LossKind::NotShown);
}

TEST(NonInferiority, OfAHigherLossIsWorse)
{
    EXPECT_EQ(testNonInferiority(std::vector{0.019, 0.020, 0.021}, 0.01).kind, LossKind::Worse);
    // Significantly higher, and by less than the margin: not worse.
    EXPECT_EQ(testNonInferiority(std::vector{0.0049, 0.0050, 0.0051}, 0.01).kind, LossKind::NotWorse);
    // Significantly higher, and not shown to be within the margin.
    EXPECT_EQ(testNonInferiority(std::vector{0.008, 0.010, 0.012}, 0.01).kind, LossKind::Worse);
}

TEST(NonInferiority, WithoutPowerIsNotShown)
{
    EXPECT_EQ(testNonInferiority(std::vector{-0.05, 0.0, 0.05}, 0.01).kind, LossKind::NotShown);
    EXPECT_EQ(testNonInferiority(std::vector{0.0}, 0.01).kind, LossKind::NotShown) << "one seed has no spread";
    EXPECT_EQ(testNonInferiority({}, 0.01).kind, LossKind::NotCompared);
}

TEST(SameBatchLosses, EqualLossesAreNotWorse)
{
    const LossCheck check = compare({1.9, 2.0, 2.1}, {1.9, 2.0, 2.1});
    EXPECT_EQ(check.kind, LossKind::NotWorse);
    EXPECT_DOUBLE_EQ(check.a, 2);
    EXPECT_DOUBLE_EQ(check.margin, kSameBatchesMargin);
    EXPECT_DOUBLE_EQ(check.tolerance(), 0.02);
    EXPECT_EQ(check.steps, 3U);
    EXPECT_EQ(check.seeds, 3U);
    EXPECT_EQ(compare({0, 0, 0}, {0, 0, 0}).kind, LossKind::NotWorse) << "nothing is left to learn";
}

TEST(SameBatchLosses, AreJudgedOnBothSidesOfTheMargin)
{
    EXPECT_EQ(compare({2, 2, 2}, {2.019, 2.019, 2.019}).kind, LossKind::NotWorse);
    EXPECT_EQ(compare({2, 2, 2}, {2.021, 2.021, 2.021}).kind, LossKind::Worse);
    EXPECT_EQ(compare({2, 2, 2}, {1, 1, 1}).kind, LossKind::NotWorse) << "a lower loss is not worse";
}

TEST(SameBatchLosses, ADivergedArmIsWorse)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(compare({1, 1}, {1, nan}).kind, LossKind::Worse);
    EXPECT_EQ(compare({1, 1}, {1, infinite}).kind, LossKind::Worse);
    EXPECT_EQ(compare({1, nan}, {1, 1}).kind, LossKind::NotCompared) << "the baseline itself diverged";
}

TEST(SameBatchLosses, ASeedsStepsAreOneObservation)
{
    SameBatchLosses losses;
    for (const double loss : {1.0, 3.0})
        losses.addSeed(std::vector{loss, loss + 1, loss + 2}, std::vector{loss, loss + 1, loss + 2});
    EXPECT_EQ(losses.result().seeds, 2U);
    EXPECT_EQ(losses.result().steps, 6U);
    EXPECT_DOUBLE_EQ(losses.result().a, 3) << "of 2 and 4";
}

TEST(SameBatchLosses, DifferentNumbersOfStepsAreNotCompared)
{
    SameBatchLosses losses;
    losses.addSeed(std::vector{1.0, 1.0}, std::vector{1.0});
    EXPECT_EQ(losses.result().kind, LossKind::NotCompared);
}

/// Share of 1,000 comparisons over `seeds` seeds with this outcome.
/// @param worse true share by which the change's loss is higher
/// @param spread standard deviation of each arm's loss that the other arm does not share
double rate(LossKind kind, std::size_t seeds, double worse, double spread)
{
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> a, b;
        for (std::size_t seed = 0; seed < seeds; ++seed) {
            const double luck = 2 * (1 + 0.05 * normal(random));
            a.push_back(luck * (1 + spread * normal(random)));
            b.push_back(luck * (1 + spread * normal(random)) * (1 + worse));
        }
        count += compare(a, b).kind == kind ? 1 : 0;
    }
    return count / 1000.0;
}

TEST(NonInferioritySimulated, IsWrongAtMostOneTimeInTwenty)
{
    // The loss is higher by exactly the margin: "not worse" would be wrong.
    for (const std::size_t seeds : {3U, 6U, 10U})
        for (const double spread : {0.0005, 0.002, 0.01})
            EXPECT_LE(rate(LossKind::NotWorse, seeds, kSameBatchesMargin, spread), 0.05) << seeds << " " << spread;
}

TEST(NonInferioritySimulated, HasTheListedPower)
{
    std::printf("\"not worse\" is shown for an equal loss, margin 1 %%\nspread   3 seeds  6 seeds  10 seeds\n");
    for (const double spread : {0.0005, 0.001, 0.002, 0.005, 0.02})
        std::printf("%.2f %%   %5.1f %%  %5.1f %%  %5.1f %%\n", 100 * spread,
                    100 * rate(LossKind::NotWorse, 3, 0, spread), 100 * rate(LossKind::NotWorse, 6, 0, spread),
                    100 * rate(LossKind::NotWorse, 10, 0, spread));
    EXPECT_GE(rate(LossKind::NotWorse, 3, 0, 0.001), 0.9);
    EXPECT_GE(rate(LossKind::NotWorse, 6, 0, 0.002), 0.9);
    EXPECT_LE(rate(LossKind::NotWorse, 3, 0, 0.02), 0.1) << "a test without power shows nothing";
    EXPECT_GE(rate(LossKind::NotShown, 3, 0, 0.02), 0.85);
    EXPECT_GE(rate(LossKind::Worse, 6, 0.05, 0.005), 0.9);
}

TEST(SeedOfStart, CountsUpFromTheConfiguredSeed)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("run.seed", "2147483647"));
    EXPECT_EQ(withSeedOfStart(config, 0).text("run.seed"), "2147483647");
    EXPECT_EQ(withSeedOfStart(config, 2).text("run.seed"), "1") << "the knob's range continues from its beginning";
}

TEST(MayChangeLoss, IsReadFromTheRowsOfAllChanges)
{
    EXPECT_FALSE(mayChangeLoss({{"loader.workers", "0", "2"}, {"optimizer.implementation", "for-loop", "fused"}}));
    EXPECT_TRUE(mayChangeLoss({{"loader.workers", "0", "2"}, {"precision.amp", "off", "bf16"}}));
    EXPECT_FALSE(mayChangeLoss(std::vector<Toggle>{})) << "A against A";
    EXPECT_TRUE(mayChangeLoss({{"a key of a later version", "", ""}}));
}

TEST(SameBatches, NotWithAnotherBatchSizeOrOtherData)
{
    EXPECT_TRUE(sameBatches({}));
    EXPECT_TRUE(sameBatches({{"loader.workers", "0", "2"}}));
    EXPECT_FALSE(sameBatches({{"loader.workers", "0", "2"}, {"batch.size", "32", "64"}}));
    EXPECT_FALSE(sameBatches({{"dataset.samples", "2000", "4000"}}));
    EXPECT_FALSE(sameBatches({{"gradient.accumulation", "1", "4"}})) << "four batches to each loss";
    EXPECT_TRUE(sameBatches({{"gradient.accumulation", "1", "4"}, {"batch.size", "64", "16"}})) << "to an update";
    EXPECT_FALSE(sameBatches({{"gradient.accumulation", "1", "4"}, {"batch.size", "64", "32"}}));
    EXPECT_FALSE(sameBatches({{"gradient.accumulation", "1", "4"}, {"batch.size", "", "16"}})) << "from what?";
    EXPECT_FALSE(sameBatches({{"batch.find_max", "false", "true"}}));
    EXPECT_TRUE(sameBatches({{"parallel.kind", "none", "dp"}})) << "parts of one batch";
    EXPECT_FALSE(sameBatches({{"parallel.kind", "dp", "ddp"}})) << "a batch for each rank";
    EXPECT_FALSE(sameBatches({{"parallel.kind", "", "dp"}})) << "from what is not known";
    EXPECT_FALSE(sameBatches({{"parallel.local_ranks", "2", "4"}}));
}

} // namespace
} // namespace advisor
