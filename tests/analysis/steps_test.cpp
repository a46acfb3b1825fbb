#include "profiler/analysis/steps/steps.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/breakdown.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using testing::ElementsAre;

std::vector<Step> stepsOf(std::string_view text)
{
    return findSteps(*traceFromText(text));
}

std::vector<std::int64_t> warmupIndexes(const std::vector<Step>& steps)
{
    std::vector<std::int64_t> indexes;
    for (const Step& step : steps)
        if (step.warmup)
            indexes.push_back(step.index);
    return indexes;
}

Nanoseconds sum(const StepParts& p)
{
    return p.dataWait + p.copy + p.forward + p.backward + p.optimizer + p.zeroGrad + p.metrics + p.other;
}

TEST(Steps, PartsAreExclusiveAndSumToTheStep)
{
    const auto steps = stepsOf(R"(
        main
          step 0 0 100
          phase "data wait" 0 20
          phase copy 20 5
          phase "zero grad" 25 3
          phase forward 30 20
          phase backward 50 30
          phase optimizer 80 10
          phase metrics 90 4
    )");
    ASSERT_EQ(steps.size(), 1U);
    const StepParts& parts = steps[0].parts;
    EXPECT_EQ(toUs(parts.dataWait), 20);
    EXPECT_EQ(toUs(parts.copy), 5);
    EXPECT_EQ(toUs(parts.zeroGrad), 3);
    EXPECT_EQ(toUs(parts.forward), 20);
    EXPECT_EQ(toUs(parts.backward), 30);
    EXPECT_EQ(toUs(parts.optimizer), 10);
    EXPECT_EQ(toUs(parts.metrics), 4);
    EXPECT_EQ(toUs(parts.other), 8);
    EXPECT_EQ(sum(parts), steps[0].range.duration());
}

TEST(Steps, WaitingForAutogradsThreadIsTheBackwardPass)
{
    const auto steps = stepsOf(R"(
        main
          op ProfilerStep#3 0 100
          op aten::conv2d 10 20
          op aten::conv2d 60 10
          op Optimizer.step#SGD.step 90 8
        thread autograd
          op "autograd::engine::evaluate_function: ConvolutionBackward0" 32 10
          op "autograd::engine::evaluate_function: AddBackward0" 45 10
          op "autograd::engine::evaluate_function: ConvolutionBackward0" 68 10
          op torch::autograd::AccumulateGrad 80 1
          op ReluBackward1 82 3
    )");
    ASSERT_EQ(steps.size(), 1U);
    const StepParts& parts = steps[0].parts;
    EXPECT_EQ(toUs(parts.backward), (55 - 32) + (85 - 70)) << "two passes, with the gaps between their nodes";
    EXPECT_EQ(toUs(parts.optimizer), 8);
    EXPECT_EQ(sum(parts), steps[0].range.duration());
}

TEST(Steps, TheInnermostPhaseCounts)
{
    const auto steps = stepsOf(R"(
        main
          step 0 0 100
          phase forward 10 60
          phase copy 20 15
    )");
    EXPECT_EQ(toUs(steps[0].parts.forward), 45);
    EXPECT_EQ(toUs(steps[0].parts.copy), 15);
    EXPECT_EQ(sum(steps[0].parts), steps[0].range.duration());
}

TEST(Steps, PhasesOfOtherThreadsDoNotCount)
{
    const auto steps = stepsOf(R"(
        main
          step 0 0 100
        thread other
          phase forward 10 60
    )");
    EXPECT_EQ(toUs(steps[0].parts.forward), 0);
}

TEST(Steps, AValidationInsideAStepIsOtherAndMakesTheStepUnsteady)
{
    const auto steps = stepsOf(R"(
        main
          repeat 4 every 100
            step 0 0 100
            phase "data wait" 0 10
          end
          step 4 400 500
          phase "data wait" 400 10
          phase validation 450 400
          phase "data wait" 450 100
          phase forward 560 200
    )");
    ASSERT_EQ(steps.size(), 5U);
    EXPECT_TRUE(steps[4].warmup);
    EXPECT_EQ(toUs(steps[4].parts.dataWait), 10);
    EXPECT_EQ(toUs(steps[4].parts.forward), 0);
    EXPECT_EQ(toUs(steps[4].parts.other), 490);
}

TEST(Steps, AStepThatWaitsForAnotherRanksValidationIsUnsteady)
{
    // The second process validates between its steps; the first waits for it in its sixth step.
    constexpr std::string_view kFirst = R"(
        main pid=1
          repeat 6 every 100
            step 0 0 100
          end
          step 6 600 400
          step 7 1000 100
    )";
    constexpr std::string_view kSecond = R"(
        thread other pid=2
          phase validation 610 300
    )";
    EXPECT_THAT(warmupIndexes(stepsOf(std::string(kFirst) + std::string(kSecond) + "step 0 910 100\n")),
                ElementsAre(0, 6));
    EXPECT_THAT(warmupIndexes(stepsOf(std::string(kFirst) + std::string(kSecond))), ElementsAre(0))
        << "no rank waits for a process that only evaluates";
}

TEST(Steps, WorkersThatStartInsideAStepMakeItUnsteady)
{
    const auto steps = stepsOf(R"(
        main
          repeat 6 every 100
            step 0 0 100
          end
          phase "start workers" 310 5
    )");
    EXPECT_THAT(warmupIndexes(steps), ElementsAre(0, 3));
    EXPECT_EQ(toUs(steps[3].parts.other), 100);
}

TEST(Steps, TheFirstStepIsWarmupEvenIfItIsLikeTheOthers)
{
    EXPECT_THAT(warmupIndexes(stepsOf("main\nrepeat 10 every 100\nstep 0 0 100\nend")), ElementsAre(0));
}

TEST(Steps, SlowFirstStepsAreWarmupUntilOneIsLikeTheOthers)
{
    const auto steps = stepsOf(R"(
        main
          step 0 0 900
          step 1 900 300
          step 2 1200 115    # further than a seventh
          repeat 17 every 100
            step 3 2000 100
          end
    )");
    EXPECT_THAT(warmupIndexes(steps), ElementsAre(0, 1, 2));
    EXPECT_DOUBLE_EQ(stepStatistics(steps).steadyMeanUs, 100);
}

TEST(Steps, AStepWithinASeventhOfTheMedianIsNotWarmup)
{
    const auto steps = stepsOf(R"(
        main
          step 0 0 900
          step 1 900 114     # 100 / 7 = 14.3
          repeat 17 every 100
            step 2 2000 100
          end
    )");
    EXPECT_THAT(warmupIndexes(steps), ElementsAre(0));
}

TEST(Steps, AnOutlierInTheMiddleIsNotWarmup)
{
    const auto steps = stepsOf(R"(
        main
          repeat 8 every 100
            step 0 0 100
          end
          step 8 800 5000
          repeat 8 every 100
            step 9 5800 100
          end
    )");
    EXPECT_THAT(warmupIndexes(steps), ElementsAre(0));
}

TEST(Steps, NoiseWidensTheToleranceForWarmup)
{
    // Steps alternate between 60 and 140. A first step of 170 is within three deviations, one of 400 is not.
    const auto steps = stepsOf(R"(
        main
          step 0 0 400
          step 1 400 170
          repeat 15 every 200
            step 2 1000 60
            step 2 1060 140
          end
    )");
    EXPECT_THAT(warmupIndexes(steps), ElementsAre(0));
}

TEST(Steps, AnEpochStartsAfterAValidationBetweenSteps)
{
    const auto steps = stepsOf(R"(
        main
          repeat 12 every 100
            step 0 0 100
          end
          phase validation 1200 300
          step 12 1500 400
          repeat 11 every 100
            step 13 1900 100
          end
    )");
    EXPECT_THAT(warmupIndexes(steps), ElementsAre(0, 12));
}

TEST(Steps, AnEpochStartsWhenBatchIndexesRestart)
{
    const std::string text = R"(
        main
          repeat 12 every 100
            step 0 0 100
            phase "data wait" 0 10 value=0
          end
          step 12 1200 400
          phase "data wait" 1200 310 value=0
          repeat 11 every 100
            step 13 1600 100
            phase "data wait" 1600 10 value=1
          end
    )";
    EXPECT_THAT(warmupIndexes(stepsOf(text)), ElementsAre(0, 12));
}

TEST(Steps, AnOpenStepIsPartial)
{
    const auto steps = stepsOf(R"(
        main
          repeat 4 every 100
            step 0 0 100
          end
          step 4 400 open
        lost cut
    )");
    ASSERT_EQ(steps.size(), 5U);
    EXPECT_TRUE(steps[4].partial);
    EXPECT_FALSE(steps[3].partial);
    EXPECT_EQ(stepStatistics(steps).steadyCount, 3);
}

TEST(Steps, OpsOnAnyHostThreadCount)
{
    const auto steps = stepsOf(R"(
        main
          repeat 3 every 100
            step 0 0 100
          end
        thread autograd
          op aten::mul 150 10
    )");
    EXPECT_FALSE(steps[0].opsRecorded);
    EXPECT_TRUE(steps[1].opsRecorded);
    EXPECT_FALSE(steps[2].opsRecorded);
}

TEST(StepStatistics, CoverAllStepsAndSteadyOnesExcludeWarmup)
{
    const auto steps = stepsOf(R"(
        main
          step 0 0 200
          phase "data wait" 0 150
          step 1 200 100
          phase "data wait" 200 30
          step 2 300 104
          phase "data wait" 300 20
          step 3 404 96
          phase "data wait" 404 10
          phase forward 420 30
    )");
    const StepStatistics statistics = stepStatistics(steps);
    EXPECT_EQ(statistics.count, 4);
    EXPECT_DOUBLE_EQ(statistics.meanUs, 125);
    EXPECT_DOUBLE_EQ(statistics.medianUs, 102);
    EXPECT_DOUBLE_EQ(statistics.minUs, 96);
    EXPECT_DOUBLE_EQ(statistics.maxUs, 200);
    EXPECT_NEAR(statistics.p90Us, 171.2, 1e-9); // rank 2.7 between 104 and 200
    EXPECT_EQ(statistics.steadyCount, 3);
    EXPECT_DOUBLE_EQ(statistics.steadyMeanUs, 100);
    EXPECT_DOUBLE_EQ(toUs(statistics.steadyMeanParts.dataWait), 20);
    EXPECT_DOUBLE_EQ(toUs(statistics.steadyMeanParts.forward), 10);
}

TEST(StepStatistics, AreZeroWithoutSteps)
{
    const StepStatistics statistics = stepStatistics({});
    EXPECT_EQ(statistics.count, 0);
    EXPECT_EQ(statistics.meanUs, 0);
    EXPECT_TRUE(stepsOf("main\nop aten::add 0 5").empty());
}

TEST(BetweenSteps, AreTheirPhasesAndTheRest)
{
    const auto trace = traceFromText(R"(
        main pid=1
          step 0 0 100
          phase forward 0 50
          phase generation 110 40
          step 1 160 100
          phase validation 260 300
          phase checkpoint 300 50
          phase checkpoint 580 10
          step 2 600 100
          phase generation 700 100
        thread other pid=2
          phase validation 100 50
    )");
    const BetweenSteps between = betweenSteps(*trace, findSteps(*trace));
    EXPECT_EQ(toUs(between.span), 700) << "without what follows the last step";
    EXPECT_EQ(toUs(between.time), 400);
    std::vector<std::string> phases;
    for (const BetweenSteps::Phase& phase : between.phases)
        phases.push_back(phase.name + ' ' + std::to_string(phase.count) + ' ' +
                         std::to_string(static_cast<int>(toUs(phase.time))));
    EXPECT_THAT(phases, ElementsAre("validation 1 300", "generation 1 40", "checkpoint 1 10"))
        << "a checkpoint within a validation belongs to it";
    EXPECT_EQ(toUs(between.other), 50);
}

TEST(BetweenSteps, HaveNoTimeIfStepsFollowEachOther)
{
    const auto trace = traceFromText("main\n  step 0 0 100\n  step 1 100 100\n");
    const BetweenSteps between = betweenSteps(*trace, findSteps(*trace));
    EXPECT_EQ(toUs(between.span), 200);
    EXPECT_EQ(between.time.count(), 0);
    EXPECT_EQ(betweenSteps(*trace, {}).span.count(), 0);
}

} // namespace
} // namespace profiler::analysis
