#include "advisor/experiment/loss_comparison.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace advisor {
namespace {

LossComparison::Result compare(const std::vector<double>& a, const std::vector<double>& b)
{
    LossComparison comparison;
    comparison.add(a, b);
    return comparison.result();
}

TEST(LossComparison, EqualLossesAgree)
{
    const auto result = compare({2, 2, 2}, {2, 2, 2});
    EXPECT_TRUE(result.parity);
    EXPECT_DOUBLE_EQ(result.a, 2);
    EXPECT_DOUBLE_EQ(result.tolerance, 0.04);
    EXPECT_EQ(result.steps, 3U);
}

TEST(LossComparison, TwoPercentIsTheTolerance)
{
    EXPECT_TRUE(compare({1, 1, 1}, {1.019, 1.019, 1.019}).parity);
    EXPECT_FALSE(compare({1, 1, 1}, {1.021, 1.021, 1.021}).parity);
    EXPECT_FALSE(compare({1, 1, 1}, {0.979, 0.979, 0.979}).parity);
}

TEST(LossComparison, NoiseWidensTheTolerance)
{
    // Successive differences of ±1 in both arms: s² = 1/2 each, so two errors of the mean over five steps are 2 √(1/5).
    const auto result = compare({1, 2, 1, 2, 1}, {2, 1, 2, 1, 2});
    EXPECT_DOUBLE_EQ(result.tolerance, 2 * std::sqrt(1.0 / 5));
    EXPECT_TRUE(result.parity);
}

TEST(LossComparison, TheFallingOfTheLossIsNoNoise)
{
    std::vector<double> a, b;
    for (int i = 0; i < 1000; ++i) {
        a.push_back(2 - 0.001 * i);
        b.push_back(a.back() * 1.03);
    }
    EXPECT_FALSE(compare(a, b).parity);
}

TEST(LossComparison, WhatIsNotFiniteDoesNotAgree)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(compare({1, 1}, {1, nan}).parity);
    EXPECT_FALSE(compare({1, 1}, {1, infinite}).parity);
    EXPECT_FALSE(compare({1, infinite}, {1, infinite}).parity);
}

TEST(LossComparison, TurnsOfDifferentLengthAreLeftOut)
{
    EXPECT_EQ(compare({1, 1}, {1}).steps, 0U);
    EXPECT_TRUE(compare({1, 1}, {1}).parity);
}

TEST(SameBatches, NotWithAnotherBatchSizeOrOtherData)
{
    EXPECT_TRUE(sameBatches({}));
    EXPECT_TRUE(sameBatches({{"loader.workers", "0", "2"}}));
    EXPECT_FALSE(sameBatches({{"loader.workers", "0", "2"}, {"batch.size", "32", "64"}}));
    EXPECT_FALSE(sameBatches({{"dataset.samples", "2000", "4000"}}));
}

} // namespace
} // namespace advisor
