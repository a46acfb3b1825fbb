#include "stepscope_run_base_schedules_registry.h"
#include "trainer/config/training_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainer;

namespace {

ScheduleKind schedule(const std::string& id)
{
    for (const auto& [stem, kind] : schedules::all())
        if (stem == id)
            return kind;
    ADD_FAILURE() << "no schedule " << id;
    return {};
}

ScheduleOptions twentySteps()
{
    ScheduleOptions options;
    options.learningRate = 0.05;
    options.totalSteps = 20;
    options.finalShare = 0.01;
    return options;
}

struct Point {
    std::int64_t step;
    double rate;
};

// From torch.optim.lr_scheduler 2.11 in Python, SGD with lr=0.05, 20 steps; the call is named at each.
void expectCurve(const std::string& id, const ScheduleOptions& options, std::initializer_list<Point> curve)
{
    const ScheduleKind kind = schedule(id);
    for (const auto& [step, rate] : curve)
        EXPECT_NEAR(learningRateAt(kind, step, options), rate, 1e-12) << id << " at step " << step;
}

TEST(Schedules, CosineIsCosineAnnealingLr)
{
    // CosineAnnealingLR(T_max=20, eta_min=0.0005)
    expectCurve(
        "cosine", twentySteps(),
        {{0, 0.05}, {1, 0.04969528642972966}, {7, 0.036486264868553782}, {10, 0.02525}, {19, 0.00080471357027034297}});
}

TEST(Schedules, LinearIsLinearLr)
{
    // LinearLR(start_factor=1, end_factor=0.01, total_iters=20)
    expectCurve("linear", twentySteps(), {{0, 0.05}, {1, 0.047525}, {7, 0.032675}, {10, 0.02525}, {19, 0.002975}});
}

TEST(Schedules, StepIsStepLr)
{
    // StepLR(step_size=6, gamma=0.3)
    ScheduleOptions options = twentySteps();
    options.stepSize = 6;
    options.gamma = 0.3;
    expectCurve("step", options, {{0, 0.05}, {5, 0.05}, {6, 0.015}, {11, 0.015}, {12, 0.0045}, {19, 0.00135}});
}

TEST(Schedules, CyclicIsCyclicLr)
{
    // CyclicLR(base_lr=0.005, max_lr=0.05, step_size_up=4)
    ScheduleOptions options = twentySteps();
    options.cycleSteps = 4;
    options.lowestShare = 0.1;
    expectCurve("cyclic", options,
                {{0, 0.005}, {1, 0.01625}, {4, 0.05}, {5, 0.03875}, {8, 0.005}, {11, 0.03875}, {19, 0.03875}});
}

TEST(Schedules, OneCycleIsOneCycleLrOfThreePhases)
{
    // OneCycleLR(max_lr=0.05, total_steps=20, pct_start=0.45, anneal_strategy='linear', div_factor=10,
    //            final_div_factor=100, three_phase=True)
    ScheduleOptions options = twentySteps();
    options.finalShare = 0.001;
    expectCurve("one_cycle", options,
                {{0, 0.005},
                 {1, 0.010625},
                 {4, 0.0275},
                 {8, 0.05},
                 {9, 0.044375},
                 {13, 0.021875},
                 {16, 0.005},
                 {17, 0.00335},
                 {18, 0.0017},
                 {19, 0.00005}});
}

TEST(Schedules, OneCycleHasEqualHalvesAndEndsOrdersOfMagnitudeLower)
{
    ScheduleOptions options;
    options.learningRate = 1;
    options.totalSteps = 1000;
    options.finalShare = 0.001;
    const ScheduleKind kind = schedule("one_cycle");
    std::int64_t top = 0;
    for (std::int64_t step = 0; step < options.totalSteps; ++step)
        if (kind.rate(step, options) > kind.rate(top, options))
            top = step;
    EXPECT_EQ(top, 449);
    EXPECT_NEAR(kind.rate(2 * top, options), kind.rate(0, options), 1e-12) << "as long down as up";
    EXPECT_NEAR(kind.rate(999, options), 0.001, 1e-12);
}

TEST(Schedules, WarmUpComesBeforeTheCurve)
{
    // SequentialLR([LinearLR(start_factor=0.25, total_iters=3), CosineAnnealingLR(T_max=16, eta_min=0.0005)], [4])
    ScheduleOptions options = twentySteps();
    options.warmupSteps = 4;
    expectCurve(
        "cosine", options,
        {{0, 0.0125}, {1, 0.025}, {2, 0.0375}, {3, 0.05}, {4, 0.05}, {12, 0.02525}, {19, 0.00097556431002004669}});
    EXPECT_DOUBLE_EQ(learningRateAt(schedule("cyclic"), 0, options), schedule("cyclic").rate(0, options))
        << "begins low by itself";
}

TEST(Schedules, RangeTestRisesByAConstantFactor)
{
    ScheduleOptions options = twentySteps();
    options.learningRate = 1;
    options.rangeLowest = 1e-6;
    const ScheduleKind kind = schedule("range_test");
    EXPECT_NEAR(kind.rate(0, options), 1e-6, 1e-18);
    EXPECT_NEAR(kind.rate(19, options), 1, 1e-12);
    for (std::int64_t step = 1; step < 20; ++step)
        EXPECT_NEAR(kind.rate(step, options) / kind.rate(step - 1, options), std::pow(1e6, 1.0 / 19), 1e-9);
}

TEST(Schedules, StayInTheirRangeWithAnySettings)
{
    for (const auto& [stem, kind] : schedules::all())
        for (const std::int64_t total : {1, 2, 3, 7})
            for (const std::int64_t warmup : {0, 1, 10})
                for (std::int64_t step = 0; step < total + 5; ++step) {
                    ScheduleOptions options;
                    options.totalSteps = total;
                    options.warmupSteps = warmup;
                    const double rate = learningRateAt(kind, step, options);
                    EXPECT_TRUE(rate >= 0 && rate <= options.learningRate * (1 + 1e-12))
                        << stem << " of " << total << " steps, " << warmup << " of warm-up, at " << step << ": "
                        << rate;
                }
}

TEST(Schedules, AreTheChoicesOfTheKnob)
{
    std::vector<std::string_view> stems;
    for (const auto& [stem, kind] : schedules::all())
        stems.push_back(stem);
    EXPECT_THAT(config::findKnob("schedule.kind")->choices, testing::UnorderedElementsAreArray(stems));
}

} // namespace
