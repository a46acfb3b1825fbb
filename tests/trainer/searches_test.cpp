#include "trainer/session/searches.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace trainer;
using Outcome = BatchTrial::Outcome;
using testing::Contains;
using testing::Each;

namespace {

// Memory for batches up to `room`.
struct Machine {
    std::int64_t room = 0;
    std::vector<std::int64_t> tried = {};
    BatchTrial operator()(std::int64_t batch)
    {
        tried.push_back(batch);
        return {batch <= room ? Outcome::Fits : Outcome::OutOfMemory, {}};
    }
};

TEST(BatchSearch, FindsTheLargestToAnEighth)
{
    for (const std::int64_t room : {1, 2, 7, 63, 64, 65, 1000, 5003}) {
        Machine machine{room};
        const auto found = searchBatch(1, 1 << 20, std::ref(machine));
        ASSERT_TRUE(found) << room;
        EXPECT_LE(*found, room);
        EXPECT_GE(*found + std::max<std::int64_t>(*found / 8, 1), room) << room;
        EXPECT_LE(machine.tried.size(), 20u);
    }
}

TEST(BatchSearch, GoesDownFromAFirstThatIsTooLarge)
{
    Machine machine{10};
    EXPECT_EQ(searchBatch(64, 1000, std::ref(machine)), 10);
}

TEST(BatchSearch, NeverTriesMoreThanThereIs)
{
    Machine machine{1 << 20};
    EXPECT_EQ(searchBatch(32, 100, std::ref(machine)), 100);
    EXPECT_THAT(machine.tried, Each(testing::Le(100)));
}

TEST(BatchSearch, EndsAtWhatTheSettingMayBe)
{
    EXPECT_EQ(trainer::largestBatch(100), 100);
    const auto most = trainer::largestBatch(1'000'000);
    config::TrainingConfig config;
    EXPECT_TRUE(config.set("batch.size", std::to_string(most)));
    EXPECT_FALSE(config.set("batch.size", std::to_string(most + 1)));
}

TEST(BatchSearch, FindsNothingWhereNothingFitsOrSomethingElseFails)
{
    Machine none{0};
    EXPECT_EQ(searchBatch(32, 1000, std::ref(none)), std::nullopt);
    EXPECT_THAT(none.tried, Contains(1));
    EXPECT_EQ(searchBatch(32, 1000,
                          [](std::int64_t) {
                              return BatchTrial{Outcome::Failed, profiler::foreignText("no such file")};
                          }),
              std::nullopt);
}

TEST(BatchSearch, TakesWhatFailsAfterOneFittedForTooLarge)
{
    for (const std::int64_t room : {40, 64, 100, 127}) {
        const auto found = searchBatch(32, 1000, [&](std::int64_t batch) {
            return BatchTrial{batch <= room ? Outcome::Fits : Outcome::Failed,
                              profiler::foreignText("CUDNN_STATUS_EXECUTION_FAILED")};
        });
        ASSERT_TRUE(found) << room;
        EXPECT_LE(*found, room);
        EXPECT_GE(*found + *found / 8, room) << room;
    }
}

TEST(RangeTest, FindsWhereTheLossFallsFastest)
{
    RangeTest test;
    // Flat, a steep fall around 0.01, flat, then up.
    for (int i = 0; i <= 100; ++i) {
        const double rate = 1e-5 * std::pow(1e6, i / 100.0);
        test.add(rate, 2 - 1 / (1 + std::exp(-4 * std::log(rate / 0.01))));
    }
    ASSERT_TRUE(test.steepest());
    EXPECT_GT(*test.steepest(), 0.005);
    EXPECT_LT(*test.steepest(), 0.05) << "the mean over the last points lags behind";
    EXPECT_FALSE(test.diverged());
}

TEST(RangeTest, EndsWhereTheLossRunsAway)
{
    RangeTest test;
    for (int i = 0; i < 20; ++i)
        test.add(1e-3 * (i + 1), 1);
    EXPECT_FALSE(test.diverged());
    for (int i = 0; i < 20; ++i)
        test.add(1 + i, 100);
    EXPECT_TRUE(test.diverged());
    RangeTest lost;
    lost.add(0.1, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(lost.diverged());
    EXPECT_EQ(lost.toJson(), "[]");
}

TEST(RangeTest, FindsNothingInALossThatOnlyRises)
{
    RangeTest test;
    for (int i = 1; i < 20; ++i)
        test.add(i, i);
    EXPECT_EQ(test.steepest(), std::nullopt);
}

} // namespace
