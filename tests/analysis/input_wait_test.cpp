#include "profiler/analysis/loader/loader_work.h"

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/device_use.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using testing::ElementsAre;

InputWait inputOf(const Trace& trace)
{
    return inputWait(trace, findSteps(trace), deviceBusy(scanActivity(trace)));
}
InputWait inputOf(std::string_view text)
{
    return inputOf(*traceFromText(text));
}

constexpr std::string_view kNoWorkers = R"(
    meta host.cores 2
    main
      repeat 10 every 100
        step 0 0 100
        phase "data wait" 0 60
        stage read 1 5
        stage decode 6 35
        stage augment 41 10
        stage collate 51 8
        phase forward 60 40
      end
)";

TEST(InputWait, WithoutWorkersStagesAreInTheWaitOfTheMainThread)
{
    const InputWait input = inputOf(kNoWorkers);
    EXPECT_EQ(input.workers, 0);
    EXPECT_EQ(input.cores, 2);
    EXPECT_DOUBLE_EQ(input.waitUsPerStep, 60);
    EXPECT_DOUBLE_EQ(input.waitShare, 0.6);
    EXPECT_DOUBLE_EQ(input.computeUsPerStep, 40);
    EXPECT_DOUBLE_EQ(input.loadUsPerBatch, 58);
    EXPECT_DOUBLE_EQ(input.stallShareOfSteps, 1);
    EXPECT_DOUBLE_EQ(input.workerBusyShare, 0);
    ASSERT_EQ(input.stages.size(), 4U);
    EXPECT_EQ(input.stages[0].name, "decode");
    EXPECT_DOUBLE_EQ(input.stages[0].usPerBatch, 35);
    EXPECT_DOUBLE_EQ(input.stages[0].share, 35.0 / 58);
    EXPECT_EQ(input.stages[3].name, "read");
}

TEST(InputWait, ValidationDoesNotCount)
{
    const InputWait input = inputOf(std::string(kNoWorkers) + R"(
        main
          phase validation 1000 900
          phase "data wait" 1000 800
          stage decode 1000 700
    )");
    EXPECT_DOUBLE_EQ(input.waitUsPerStep, 60);
    EXPECT_DOUBLE_EQ(input.loadUsPerBatch, 58);
}

TEST(InputWait, WorkersAreCountedByNameAndTheirBatchesByCollate)
{
    // Two workers alternate; a batch takes 180 of its worker's 200 µs.
    const InputWait input = inputOf(R"(
        main
          repeat 12 every 100
            step 0 0 100
            phase "data wait" 0 4
            phase forward 4 96
          end
        worker 0
          repeat 6 every 200
            stage read 0 20
            stage decode 20 60
            stage read 80 20
            stage decode 100 50
            stage collate 150 30
            wait room 180 20
          end
        worker 1
          repeat 6 every 200
            stage read 100 20
            stage decode 120 130
            stage collate 250 30
            wait room 280 20
          end
    )");
    EXPECT_EQ(input.workers, 2);
    EXPECT_DOUBLE_EQ(input.loadUsPerBatch, 180);
    EXPECT_NEAR(input.workerBusyShare, 0.9, 0.02);
    EXPECT_DOUBLE_EQ(input.waitShare, 0.04);
    EXPECT_DOUBLE_EQ(input.stallShareOfSteps, 0); // 4 % is not a stall
}

TEST(InputWait, PinningBelongsToItsBatchBeforeAndAfter)
{
    const std::string_view steps = "main\nrepeat 8 every 100\nstep 0 0 100\nend\nworker 0\n";
    const InputWait before = inputOf(std::string(steps) + R"(
        repeat 8 every 100
          stage pin 0 10 value=0
          stage decode 10 60
          stage collate 70 10 value=0
        end)");
    const InputWait after = inputOf(std::string(steps) + R"(
        repeat 8 every 100
          stage decode 10 60
          stage collate 70 10 value=0
          stage pin 80 10 value=0
        end)");
    EXPECT_DOUBLE_EQ(before.loadUsPerBatch, 80);
    EXPECT_DOUBLE_EQ(after.loadUsPerBatch, 80);
}

// A worker may load the last batch of an epoch and then the batch of the same number of the next epoch.
TEST(LoadedBatches, OfTheSameNumberOneAfterTheOtherHaveOnePinEach)
{
    const auto trace = traceFromText("main\nrepeat 8 every 100\nstep 0 0 100\nend\nworker 0\nrepeat 8 every 100\n"
                                     "stage pin 0 10 value=9\nstage decode 10 60\nstage collate 70 10 value=9\nend");
    const auto batches = loadedBatches(*trace, findSteps(*trace));
    ASSERT_GT(batches.size(), 4U);
    for (const LoadedBatch& batch : batches) {
        ASSERT_EQ(batch.stages.size(), 3U);
        EXPECT_EQ(trace->name(batch.stages[0]), "pin");
        EXPECT_EQ(trace->name(batch.stages[2]), "collate");
    }
}

TEST(InputWait, AWorkerThatIsRecreatedInEachEpochCountsOnce)
{
    const InputWait input = inputOf(R"(
        main
          repeat 10 every 100
            step 0 0 100
          end
        worker 0
          stage decode 100 300
          stage collate 400 10
        worker 0 tid=7
          stage decode 600 300
          stage collate 900 10
    )");
    EXPECT_EQ(input.workers, 1);
}

TEST(InputWait, StallsAreStepsThatWaitOverFivePercentOfTheMean)
{
    const InputWait input = inputOf(R"(
        main
          step 0 0 100
          repeat 3 every 200
            step 1 100 100
            phase "data wait" 100 4
            step 2 200 100
            phase "data wait" 200 6
          end
    )");
    EXPECT_DOUBLE_EQ(input.stallShareOfSteps, 0.5);
}

TEST(InputWait, LongestWaitsComeFirst)
{
    const auto trace = traceFromText(R"(
        main
          step 0 0 100
          step 1 100 100
          phase "data wait" 100 20
          step 2 200 100
          phase "data wait" 200 40
          step 3 300 100
          phase "data wait" 300 30
    )");
    std::vector<std::int64_t> waits;
    for (const SliceId id : inputOf(*trace).longestWaits)
        waits.push_back(trace->slice(id).duration.count() / 1000);
    EXPECT_THAT(waits, ElementsAre(40, 30, 20));
}

TEST(InputWait, OnlyWaitsWithAnIdleDeviceCanBeSaved)
{
    const InputWait input = inputOf(R"(
        device 0 gpu
        main
          repeat 10 every 100
            step 0 0 100
            phase "data wait" 0 50
          end
        stream 0 7
          repeat 10 every 100
            kernel gemm 0 40
          end
    )");
    EXPECT_DOUBLE_EQ(input.waitUsPerStep, 50);
    EXPECT_DOUBLE_EQ(input.idleWaitUsPerStep, 10);
}

TEST(InputWait, ReportsNothingWithoutSteadySteps)
{
    const InputWait input = inputOf("main\nstep 0 0 100\nphase \"data wait\" 0 60");
    EXPECT_EQ(input.waitShare, 0);
    EXPECT_TRUE(input.longestWaits.empty());
}

} // namespace
} // namespace profiler::analysis
