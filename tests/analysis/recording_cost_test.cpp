#include "profiler/analysis/recording_cost.h"

#include <gtest/gtest.h>

namespace {

using namespace profiler;
using namespace profiler::analysis;

/// Adds steps of these durations in µs, with operators if `recorded`.
void add(std::vector<Step>& steps, bool recorded, std::initializer_list<int> us)
{
    for (const int length : us) {
        Step step;
        step.range = {traceTime(0), traceTime(std::int64_t{length} * 1000)};
        step.opsRecorded = recorded;
        steps.push_back(step);
    }
}

} // namespace

TEST(RecordingCost, IsTheRatioOfSteadyStepsWithItsInterval)
{
    std::vector<Step> steps;
    add(steps, false, {100, 102, 98, 100, 101, 99});
    add(steps, true, {110, 112, 108, 110, 111});
    Step first;
    first.range = {traceTime(0), traceTime(9'000'000)};
    first.warmup = first.opsRecorded = true;
    steps.push_back(first);
    const auto cost = recordingCost(steps);
    ASSERT_TRUE(cost);
    EXPECT_NEAR(cost->ratio, 1.102, 0.003) << "the warm-up does not count";
    EXPECT_GT(cost->low, 1.08);
    EXPECT_LT(cost->high, 1.13);
    EXPECT_EQ(cost->with, 5);
    EXPECT_EQ(cost->without, 6);
}

TEST(RecordingCost, NoisyStepsWidenTheInterval)
{
    std::vector<Step> steps;
    add(steps, false, {50, 200, 60, 180, 100});
    add(steps, true, {55, 190, 70, 150, 110});
    const auto cost = recordingCost(steps);
    ASSERT_TRUE(cost);
    EXPECT_LT(cost->low, 1);
    EXPECT_GT(cost->high, 1);
}

TEST(RecordingCost, IsNoisyAboveEitherThreshold)
{
    RecordingCost cost{1.05, 1.03, 1.069, 10, 90, 0.1};
    EXPECT_FALSE(isNoisy(cost));
    EXPECT_FALSE(isNoisy(cost, 0.1));
    EXPECT_TRUE(isNoisy(cost, 0.11));
    cost.high = 1.071;
    EXPECT_TRUE(isNoisy(cost));
    EXPECT_TRUE(isNoisy(cost, 0));
}

TEST(RecordingCost, KnowsTheShareOfRecordedSteps)
{
    const RecordingCost cost{1.05, 1.03, 1.07, 10, 90, 0.1};
    EXPECT_DOUBLE_EQ(cost.recordedShare(), 0.1);
}

TEST(RecordingCost, IsUnknownWithTooFewSteps)
{
    std::vector<Step> steps;
    add(steps, false, {100, 100, 100, 100, 100, 100});
    add(steps, true, {110, 110, 110, 110});
    EXPECT_FALSE(recordingCost(steps));
    EXPECT_FALSE(recordingCost({}));
}
