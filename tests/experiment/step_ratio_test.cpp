#include "advisor/experiment/statistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace advisor {
namespace {

std::vector<double> constant(std::size_t count, double us)
{
    return std::vector<double>(count, us);
}

TEST(StepRatio, OfMediansIgnoresOutliers)
{
    std::vector<double> a, b;
    for (int i = 0; i < 21; ++i) {
        a.push_back(1000 + i);
        b.push_back(1000 + i);
    }
    a[3] = 50'000;
    const StepRatio medians = ratioOfMedians(a, b), means = ratioOfMeans(a, b);
    EXPECT_NEAR(medians.ratio(), 1, 0.002);
    EXPECT_GT(means.ratio(), 3);
    ASSERT_TRUE(medians.ci95);
    EXPECT_LT(medians.ci95->second, 1.05);
    // In batches, too.
    for (int i = 21; i < 45; ++i) {
        a.push_back(1000 + i);
        b.push_back(1000 + i);
    }
    EXPECT_LT(ratioOfMedians(a, b).ci95->second, 1.05);
}

TEST(StepRatio, FewEqualStepsShowNoIntervalAndManyDo)
{
    EXPECT_FALSE(ratioOfMedians(constant(4, 200), constant(9, 100)).ci95);
    const StepRatio five = ratioOfMedians(constant(5, 200), constant(5, 100));
    ASSERT_TRUE(five.ci95);
    EXPECT_DOUBLE_EQ(five.ci95->first, 2);
    EXPECT_DOUBLE_EQ(five.ci95->second, 2);
    EXPECT_FALSE(ratioOfMedians({200}, {100, 110}).ci95);
    EXPECT_DOUBLE_EQ(ratioOfMedians({}, {}).ratio(), 0);
}

TEST(StepRatio, PairsCancelEffectsThatBothRunsShare)
{
    std::vector<std::pair<double, double>> pairs;
    std::vector<double> a, b;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> batch(500, 4000), noise(0.99, 1.01);
    for (int i = 0; i < 12; ++i) {
        b.push_back(batch(random));
        a.push_back(b.back() * 1.08 * noise(random));
        pairs.emplace_back(a.back(), b.back());
    }
    const StepRatio paired = pairedRatio(pairs), medians = ratioOfMedians(a, b);
    ASSERT_TRUE(paired.ci95 && medians.ci95);
    EXPECT_NEAR(paired.ratio(), 1.08, 0.01);
    EXPECT_GT(paired.ci95->first, 1.05);
    EXPECT_LT(medians.ci95->first, 1) << "without pairing, the batches hide it";
}

// The coverage of 95 % holds for typical step distributions: uniform noise, a fifth of slow steps, a long tail.
TEST(StepRatio, OfMediansIsWrongAtMostOneTimeInTwenty)
{
    enum class Spread { Even, SlowSteps, LongTail };
    std::mt19937 random(11);
    std::normal_distribution<double> even(0, 0.03);
    std::exponential_distribution<double> tail(5);
    std::uniform_real_distribution<double> share(0, 1);
    for (const Spread spread : {Spread::Even, Spread::SlowSteps, Spread::LongTail})
        for (const std::size_t count : {2U, 3U, 5U, 6U, 10U, 15U, 39U, 40U, 200U}) {
            const auto steps = [&] {
                std::vector<double> us;
                for (std::size_t i = 0; i < count; ++i)
                    us.push_back(spread == Spread::LongTail
                                     ? 1 + tail(random)
                                     : std::exp(even(random)) *
                                           (spread == Spread::SlowSteps && share(random) < 0.2 ? 1.4 : 1));
                return us;
            };
            constexpr int kRuns = 600;
            int wrong = 0;
            for (int run = 0; run < kRuns; ++run) {
                const auto ci = ratioOfMedians(steps(), steps()).ci95;
                wrong += ci && (ci->first > 1 || ci->second < 1) ? 1 : 0;
            }
            // Three standard errors of a share of 5 % above it.
            EXPECT_LE(wrong, kRuns * 0.077) << count << " steps, spread " << static_cast<int>(spread);
        }
}

TEST(StepRatio, OfMediansFindsAWideDifferenceInSixSteps)
{
    const StepRatio found = ratioOfMedians({1010, 1000, 990, 1005, 995, 1001}, {805, 800, 795, 790, 801, 799});
    ASSERT_TRUE(found.ci95);
    EXPECT_GT(found.ci95->first, 1.2);
    EXPECT_LT(found.ci95->second, 1.3);
}

} // namespace
} // namespace advisor
