#include "profiler/analysis/steps/warm_up.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace profiler::analysis {
namespace {

/// `warm` steps that are `excess` times as long as the others, with `noise` as the standard deviation of the
/// logarithms.
std::vector<double> series(std::size_t warm, double excess, std::size_t steady, double noise = 0,
                           std::uint64_t seed = 1)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> durations;
    for (std::size_t i = 0; i < warm + steady; ++i)
        durations.push_back((i < warm ? excess : 1) * std::exp(noise * normal(random)));
    return durations;
}

TEST(WarmUpEnd, IsAfterTheSlowSteps)
{
    for (const std::size_t warm : {1U, 2U, 5U, 20U}) {
        const WarmUpEnd end = findWarmUpEnd(series(warm, 3, 60, 0.03));
        EXPECT_EQ(end.first, warm);
        EXPECT_TRUE(end.isSteady);
    }
}

TEST(WarmUpEnd, OfSteadyStepsIsTheFirstStep)
{
    const WarmUpEnd end = findWarmUpEnd(series(0, 1, 50, 0.03));
    EXPECT_EQ(end.first, 0U);
    EXPECT_TRUE(end.isSteady);
}

TEST(WarmUpEnd, RequiresAnExcessOfASeventh)
{
    EXPECT_EQ(findWarmUpEnd(series(3, 1.13, 40)).first, 0U);
    EXPECT_EQ(findWarmUpEnd(series(3, 1.16, 40)).first, 3U);
}

TEST(WarmUpEnd, FollowsSeveralLevels)
{
    // Libraries are loaded, then kernels are chosen, then the allocator still grows.
    std::vector<double> durations = {50, 12, 11, 1.6, 1.5, 1.4};
    const std::vector<double> rest = series(0, 1, 40, 0.02);
    durations.insert(durations.end(), rest.begin(), rest.end());
    EXPECT_EQ(findWarmUpEnd(durations).first, 6U);
}

TEST(WarmUpEnd, IgnoresALaterInterruptedStep)
{
    std::vector<double> durations = series(0, 1, 60, 0.02);
    durations[10] = 8;
    EXPECT_EQ(findWarmUpEnd(durations).first, 0U);
    EXPECT_TRUE(findWarmUpEnd(durations).isSteady);
}

TEST(WarmUpEnd, IncludesFirstStepsThatAreFaster)
{
    // Launches fill an empty queue before the device limits them.
    EXPECT_EQ(findWarmUpEnd(std::vector<double>{35, 72, 95, 95, 96, 95, 96, 95}).first, 2U);
}

TEST(WarmUpEnd, IsLimitedToTheFirstSteps)
{
    const std::vector<double> durations = series(45, 2, 15, 0.02);
    EXPECT_EQ(findWarmUpEnd(durations).first, 0U) << "three quarters of the steps cannot be warm-up";
    EXPECT_FALSE(findWarmUpEnd(durations).isSteady);
    EXPECT_EQ(findWarmUpEnd(durations, 50).first, 45U);
}

TEST(WarmUpEnd, OfTooFewStepsIsUnknown)
{
    const WarmUpEnd end = findWarmUpEnd(std::vector<double>{9, 1, 1});
    EXPECT_EQ(end.first, 0U);
    EXPECT_FALSE(end.isSteady);
}

// The level is one error in a hundred series, without correlated noise.
TEST(WarmUpEndSimulated, SteadySeriesHaveNone)
{
    for (const std::size_t count : {12U, 60U, 300U}) {
        int found = 0;
        for (std::uint64_t seed = 0; seed < 1000; ++seed)
            found += findWarmUpEnd(series(0, 1, count, 0.05, seed)).first > 0 ? 1 : 0;
        EXPECT_LE(found, 30) << count << " steps";
    }
}

TEST(WarmUpEndSimulated, FindsTheExactStepIfTheFirstOnesAreHalfSlower)
{
    int exact = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed)
        exact += findWarmUpEnd(series(6, 1.5, 60, 0.05, seed)).first == 6 ? 1 : 0;
    EXPECT_GE(exact, 950);
}

} // namespace
} // namespace profiler::analysis
