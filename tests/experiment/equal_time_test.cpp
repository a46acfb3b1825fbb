#include "advisor/experiment/equal_time.h"

#include "advisor/experiment/statistics.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <random>

namespace advisor {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using testing::ElementsAre;

TEST(LearningCurve, EndsWithTheLastFifthOfTheTime)
{
    LearningCurve curve;
    EXPECT_EQ(curve.endOf(10), std::nullopt);
    curve.add({4, 3.5}, {9, 8});
    EXPECT_EQ(curve.endOf(10), 8) << "one step at least";
    curve.add({1, 1, 0.5}, {3, 2, 1});
    EXPECT_DOUBLE_EQ(curve.seconds(), 10);
    EXPECT_EQ(curve.endOf(10), 2) << "steps that ended after 8 s";
    EXPECT_EQ(curve.stepsAtEndOf(10), 3U);
    EXPECT_EQ(curve.endOf(8), 8) << "an arm that trained longer counts until the horizon";
    EXPECT_EQ(curve.endOf(1), 9) << "the first step lasted longer than that";
}

TEST(LearningCurve, StepsWithoutALossCountAsTime)
{
    LearningCurve curve;
    curve.add({5, 5}, {});
    EXPECT_DOUBLE_EQ(curve.seconds(), 10);
    EXPECT_EQ(curve.endOf(10), std::nullopt);
}

TEST(EqualTimeLosses, AreComparedByTheirRatio)
{
    EqualTimeLosses losses;
    ASSERT_TRUE(losses.add({2.0, 1.8}, 3));
    ASSERT_TRUE(losses.add({4.0, 3.6}, 3));
    const LossAtEqualTime result = losses.result();
    EXPECT_DOUBLE_EQ(result.a, std::sqrt(8.0));
    EXPECT_NEAR(result.ratio.value, 1 / 0.9, 1e-12);
    EXPECT_NEAR(result.ratio.low, 1 / 0.9, 1e-9) << "both seeds say the same";
    EXPECT_NEAR(result.saved.value, result.a * 0.1, 1e-12);
}

TEST(EqualTimeLosses, TheSizeOfADivergedLossDoesNotMatter)
{
    EqualTimeLosses losses;
    ASSERT_TRUE(losses.add({1, kNan}, 3));
    ASSERT_TRUE(losses.add({1, 1e30}, 3));
    ASSERT_TRUE(losses.add({1, 29}, 3));
    ASSERT_TRUE(losses.add({0, 1}, 3));
    const LossAtEqualTime result = losses.result();
    EXPECT_THAT(result.diverged, ElementsAre(0, 2));
    EXPECT_DOUBLE_EQ(result.seeds[0].b, 30);
    EXPECT_DOUBLE_EQ(result.seeds[1].b, 30);
    EXPECT_DOUBLE_EQ(result.seeds[2].b, 29);
    EXPECT_DOUBLE_EQ(result.seeds[3].a, 3e-6) << "nothing is left to learn";
    EXPECT_TRUE(std::isfinite(result.ratio.value));
}

TEST(EqualTimeLosses, ALossWithoutARatioIsAnError)
{
    EqualTimeLosses losses;
    EXPECT_FALSE(losses.add({-1, 1}, 3));
    EXPECT_FALSE(losses.add({1, 1}, 0));
    EXPECT_FALSE(losses.add({1, 1}, kNan));
    EXPECT_EQ(losses.seeds(), 0U);
}

TEST(EqualTimeLosses, TheCheckIsOneSided)
{
    const auto check = [](double factor, double spread) {
        EqualTimeLosses losses;
        for (const double luck : {-1.0, 0.0, 1.0})
            EXPECT_TRUE(losses.add({2.0, 2.0 * factor * (1 + luck * spread)}, 3));
        return losses.check(3);
    };
    EXPECT_EQ(check(1, 0.001).kind, LossKind::NotWorse);
    EXPECT_EQ(check(0.5, 0.001).kind, LossKind::NotWorse);
    EXPECT_EQ(check(1.05, 0.001).kind, LossKind::Worse);
    EXPECT_EQ(check(1, 0.05).kind, LossKind::NotShown);
    EXPECT_DOUBLE_EQ(check(1, 0.001).margin, kEqualTimeMargin);
    EqualTimeLosses lost;
    ASSERT_TRUE(lost.add({2, kNan}, 3));
    ASSERT_TRUE(lost.add({2, 2}, 3));
    EXPECT_EQ(lost.check(2).kind, LossKind::Worse);
}

struct Learning {
    double seeds = 0; ///< standard deviation of the logarithm of the loss between seeds, common to both arms
    double arms = 0;  ///< of each arm: rounding, another number of steps in the same time
    double ratio = 1; ///< true a / b
};

/// A whole experiment with its own looks.
Verdict judged(const Learning& learning, std::uint64_t seed, std::size_t* seeds = nullptr)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    EqualTimeLosses losses;
    for (;;) {
        const double common = learning.seeds * normal(random);
        const double a = 0.7 * std::exp(common + learning.arms * normal(random));
        const double b = 0.7 * std::exp(common + learning.arms * normal(random)) / learning.ratio;
        EXPECT_TRUE(losses.add({a, b}, 2.3));
        const std::size_t pairs = losses.seeds() * kPairsPerStart;
        if (seeds)
            *seeds = losses.seeds();
        if (!isLook(pairs))
            continue;
        if (const auto verdict = decide(losses.result().ratio, pairs == kLooks.back()))
            return *verdict;
    }
}

TEST(EqualTimeSimulated, IdenticalArmsDifferAtMostOneTimeInTwenty)
{
    for (const double arms : {0.005, 0.02, 0.1}) {
        int claimed = 0;
        for (std::uint64_t i = 0; i < 1000; ++i) {
            const Verdict verdict = judged({.seeds = 0.1, .arms = arms}, i);
            claimed += verdict == Verdict::Pays || verdict == Verdict::Costs ? 1 : 0;
        }
        EXPECT_LE(claimed, 50) << "arms differ by " << arms;
    }
}

TEST(EqualTimeSimulated, ABetterLearnerIsFoundAlthoughSeedsDifferMoreThanArms)
{
    int found = 0;
    for (std::uint64_t i = 0; i < 500; ++i)
        found += judged({.seeds = 0.2, .arms = 0.02, .ratio = 1.08}, i) == Verdict::Pays ? 1 : 0;
    EXPECT_GE(found, 450);
}

TEST(EqualTimeSimulated, AClearDifferenceEndsAtTheFirstLook)
{
    std::size_t seeds = 0;
    EXPECT_EQ(judged({.seeds = 0.1, .arms = 0.005, .ratio = 1.3}, 1, &seeds), Verdict::Pays);
    EXPECT_EQ(seeds, 3U);
}

} // namespace
} // namespace advisor
