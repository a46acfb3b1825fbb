#include "profiler/analysis/facts.h"
#include "profiler/analysis/operators/range_name.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/steps.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;
using testing::ElementsAre;

std::vector<std::int64_t> indexes(const std::vector<Step>& steps)
{
    std::vector<std::int64_t> result;
    for (const Step& step : steps)
        result.push_back(step.index);
    return result;
}

std::vector<bool> steady(const std::vector<Step>& steps)
{
    std::vector<bool> result;
    for (const Step& step : steps)
        result.push_back(isSteady(step));
    return result;
}

std::vector<Step> marked(std::initializer_list<int> us, int first = 5)
{
    std::string text = "main\n";
    int begin = 0;
    for (const int duration : us) {
        text += " annotation ProfilerStep#" + std::to_string(first++) + " " + std::to_string(begin) + " " +
                std::to_string(duration) + "\n";
        begin += duration;
    }
    return findSteps(*traceFromText(text));
}

TEST(StepMarks, OfAStepThatNeverRanArePartial)
{
    const std::string ran = "main\n annotation ProfilerStep#0 0 9000\n op aten::mm 10 20\n"
                            " annotation ProfilerStep#1 9000 9100\n op aten::mm 9010 20\n";
    const auto isPartial = [](const std::string& text) { return findSteps(*traceFromText(text)).back().partial; };
    EXPECT_TRUE(isPartial(ran + " annotation ProfilerStep#2 18100 50\n"));
    EXPECT_TRUE(isPartial("main\n annotation ProfilerStep#1 0 9000\n op aten::mm 10 20\n"
                          " annotation ProfilerStep#2 9000 50\n"))
        << "also if there is only one other step";
    EXPECT_FALSE(isPartial(ran + " annotation ProfilerStep#2 18100 50\n op aten::mm 18110 20\n")) << "it ran";
    EXPECT_FALSE(isPartial(ran + " annotation ProfilerStep#2 18100 9500\n")) << "it took as long as the others";
    EXPECT_FALSE(isPartial("main\n annotation ProfilerStep#0 0 9000\n annotation ProfilerStep#1 9000 8000\n"))
        << "operators were not recorded";
    EXPECT_FALSE(isPartial("main\n step 0 0 9000\n op aten::mm 10 20\n step 1 9000 8000\n"))
        << "Stepscope records the operators of some steps only";
}

TEST(StepMarks, OfPytorchsProfilerCountInAnyCategory)
{
    for (const char* kind : {"annotation", "op", "nvtx", "other"}) {
        const std::string line = std::string(" ") + kind + " ProfilerStep#";
        const auto trace = traceFromText("main\n" + line + "7 0 100\n" + line + "8 100 100\n op aten::mm 10 20");
        EXPECT_THAT(indexes(findSteps(*trace)), ElementsAre(7, 8)) << kind;
    }
}

TEST(StepMarks, DuplicatesWithTheSameTimesCountOnce)
{
    const auto trace = traceFromText("main\n step 1 0 100\n step 1 0 100\n step 2 100 50\n step 2 100 50");
    EXPECT_THAT(indexes(findSteps(*trace)), ElementsAre(1, 2));
}

TEST(StepMarks, OfEqualProcessesTheFirstToStartCountsInAnyFileOrder)
{
    const std::string one = "thread a pid=1\n step 1 0 100\n step 2 100 100\n";
    const std::string two = "thread b pid=2\n step 1 5 100\n step 2 105 100\n";
    for (const std::string& text : {one + two, two + one}) {
        const auto trace = traceFromText(text);
        EXPECT_EQ(trace->track(findSteps(*trace).front().slice.track).pid, 1) << text;
    }
}

TEST(StepMarks, OnADeviceAreNotSteps)
{
    const auto trace =
        traceFromText("main\n annotation ProfilerStep#7 0 100\nstream 0 7\n gpu_annotation ProfilerStep#7 50 90");
    EXPECT_THAT(indexes(findSteps(*trace)), ElementsAre(7));
}

TEST(StepMarks, OurOwnTakePrecedence)
{
    const auto trace = traceFromText("main\n step 0 0 100\n step 1 100 100\n annotation ProfilerStep#7 0 50");
    EXPECT_THAT(indexes(findSteps(*trace)), ElementsAre(0, 1));
}

constexpr std::string_view kTwoRanks = R"(
    device 0 gpu
    device 1 gpu
    main pid=1
      repeat 4 every 100
        step 0 0 100
        op aten::mm 10 30
      end
    worker 0 pid=1
      repeat 4 every 100
        stage read 0 50
        stage collate 50 5
      end
    thread "main thread of rank 1" pid=2
      repeat 3 every 100
        step 0 2 100
        op aten::mm 12 30
      end
    thread autograd pid=2
      op aten::add 0 5
    worker 1 pid=2
      repeat 4 every 100
        stage read 0 50
        stage collate 50 5
      end
    stream 0 7
      repeat 4 every 100
        kernel a 20 60
      end
    stream 1 7
      repeat 4 every 100
        kernel a 20 60
      end
)";

TEST(StepMarks, OfSeveralProcessesTheOneWithTheMostCounts)
{
    const auto trace = traceFromText(kTwoRanks);
    const auto steps = findSteps(*trace);
    EXPECT_THAT(indexes(steps), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(markingProcesses(*trace, steps), 2);
    const Facts facts = analyse(*trace);
    EXPECT_EQ(facts.device.ranks, 2);
    const OpCost* mm = facts.ops.find("aten::mm", "");
    ASSERT_TRUE(mm);
    EXPECT_DOUBLE_EQ(mm->countPerStep, 1) << "the other rank's operators do not belong to these steps";
    EXPECT_DOUBLE_EQ(mm->selfUsPerStep, 30);
    EXPECT_EQ(facts.input.workers, 1);
    EXPECT_DOUBLE_EQ(toUs(facts.device.work.all.time), 3 * 2 * 60);
    EXPECT_DOUBLE_EQ(facts.device.meanUsPerStep(facts.device.work.all.time), 60);
}

TEST(StepMarks, WorkerProcessesBelongToTheSteps)
{
    const auto trace = traceFromText(R"(
        main pid=1
          repeat 4 every 100
            step 0 0 100
          end
        worker 0 pid=2
          repeat 4 every 100
            stage read 0 50
            stage collate 50 5
          end
        thread pin pid=2
          op aten::pin 0 5
    )");
    EXPECT_EQ(analyse(*trace).input.workers, 1);
}

TEST(StepMarks, OfSeveralThreadsOfAProcessAreOneTraining)
{
    const auto trace = traceFromText("main pid=1\n step 0 0 100\n step 1 100 100\nthread helper pid=1\n step 0 0 100\n"
                                     "thread stranger pid=2\n op aten::mm 0 10");
    EXPECT_EQ(markingProcesses(*trace, findSteps(*trace)), 1);
    const auto profiled =
        traceFromText("main pid=1\n annotation ProfilerStep#7 0 100\n annotation ProfilerStep#8 100 90\n"
                      "thread other pid=2\n annotation ProfilerStep#7 5 100");
    EXPECT_EQ(markingProcesses(*profiled, findSteps(*profiled)), 2);
    EXPECT_EQ(markingProcesses(*profiled, {}), 1);
}

TEST(StepMarks, AMarkIsNotCpuWork)
{
    const auto trace = traceFromText("main\n op ProfilerStep#7 0 100\n op aten::mm 10 20");
    EXPECT_DOUBLE_EQ(breakdown(*trace, scanActivity(*trace), findSteps(*trace)).share(TimeClass::CpuOp), 0.2);
}

TEST(StepMarks, ARangeCanBeChosenByName)
{
    const auto trace = traceFromText(R"(
        main
          nvtx "step 3" 0 100
          nvtx "step 4" 100 100
          nvtx stepper 200 100
          nvtx forward 10 20
          nvtx forward 110 20
          annotation epoch_2 0 200
    )");
    EXPECT_THAT(indexes(findSteps(*trace, "step")), ElementsAre(3, 4));
    EXPECT_THAT(indexes(findSteps(*trace, "forward")), ElementsAre(0, 1));
    EXPECT_THAT(indexes(findSteps(*trace, "epoch")), ElementsAre(2));
    EXPECT_TRUE(findSteps(*trace, "backward").empty());
    EXPECT_TRUE(findSteps(*trace).empty());
}

TEST(StepMarks, ANumberMayFollowAnyPunctuation)
{
    for (const char* mark :
         {"step: 12", "Step #12", "step - 12", "step 12/100", "step [12 / 100", "步骤12", "步骤 12"}) {
        const std::string_view range = withoutNumber(mark);
        const auto trace = traceFromText(std::string("main\n nvtx \"") + mark + "\" 0 100\n nvtx stepper 200 100");
        EXPECT_THAT(indexes(findSteps(*trace, range)), ElementsAre(12)) << mark << ": " << range;
    }
    EXPECT_EQ(withoutNumber("iteration 5/100"), "iteration");
    EXPECT_EQ(withoutNumber("步骤1"), "步骤");
    EXPECT_EQ(withoutNumber("step"), "step");
    EXPECT_EQ(withoutNumber("12"), "12");
    EXPECT_EQ(withoutNumber("#12"), "#");
    EXPECT_TRUE(isOfRange("#12", "#"));
    EXPECT_TRUE(isOfRange("epoch 2 step 3", "epoch 2 step"));
    EXPECT_FALSE(isOfRange("epoch 2 step 3", "epoch"));
    EXPECT_FALSE(isOfRange("step 12", "step 1"));
    EXPECT_FALSE(isOfRange("step two", "step"));
}

TEST(StepMarks, RepeatedRangesAreStepCandidates)
{
    const auto trace = traceFromText(R"(
        main
          nvtx "step: 1" 0 100
          nvtx "step: 2" 100 100
          annotation load 0 20
          annotation load 100 20
          nvtx once 0 900
        domain training
          nvtx "batch 1/8" 0 40
          nvtx "batch 2/8" 100 40
        stream 0 7
          gpu_annotation load 0 90
    )");
    EXPECT_THAT(repeatedRanges(*trace, 9), ElementsAre("step", "batch", "load"));
    EXPECT_THAT(repeatedRanges(*trace, 1), ElementsAre("step"));
    for (const std::string_view range : repeatedRanges(*trace, 9))
        EXPECT_EQ(findSteps(*trace, range).size(), 2U) << range;
}

TEST(StepMarks, OfSeveralThreadsOnlyOneCounts)
{
    const auto trace = traceFromText(R"(
        thread a
          nvtx step 0 100
        thread b
          nvtx step 0 100
          nvtx step 100 100
    )");
    EXPECT_EQ(findSteps(*trace, "step").size(), 2U);
}

TEST(StepMarks, AProfilerThatMarksInSeveralThreadsCountsOnce)
{
    const auto trace = traceFromText(R"(
        thread a
          step 4 100 100
        thread b
          step 3 0 100
          step 4 100 100
    )");
    EXPECT_THAT(indexes(findSteps(*trace)), ElementsAre(3, 4));
}

TEST(StepMarks, OfThreadsWithEquallyManyTheOneThatTrainsCounts)
{
    const auto steps = findSteps(*traceFromText("thread helper\nop ProfilerStep#1 0 100\nop ProfilerStep#2 100 100\n"
                                                "thread python\nop ProfilerStep#1 0 110\nop ProfilerStep#2 110 90\n"
                                                "annotation Optimizer.step#SGD.step 90 10"));
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(toUs(steps[0].range.duration()), 110);
    const auto marked = findSteps(*traceFromText("thread helper\nstep 1 0 100\nstep 2 100 100\n"
                                                 "thread python\nstep 1 0 110\nstep 2 110 90\nphase optimizer 90 10"));
    ASSERT_EQ(marked.size(), 2U);
    EXPECT_EQ(toUs(marked[0].range.duration()), 110);
}

TEST(StepMarks, AProfileThatStartsDuringARunHasNoWarmUpStep)
{
    EXPECT_THAT(steady(marked({100, 101, 99, 100})), ElementsAre(true, true, true, true));
    EXPECT_THAT(steady(marked({100, 101, 99, 100}, 0)), ElementsAre(false, true, true, true));
}

TEST(StepMarks, FirstStepsThatDeviateAreWarmUp)
{
    EXPECT_THAT(steady(marked({35, 72, 95, 95, 96})), ElementsAre(false, false, true, true, true));
    EXPECT_THAT(steady(marked({300, 101, 99, 100, 100})), ElementsAre(false, true, true, true, true));
}

TEST(StepMarks, ALastStepThatIsCutIsPartial)
{
    EXPECT_THAT(steady(marked({100, 101, 99, 100, 100, 30})), ElementsAre(true, true, true, true, true, false));
    EXPECT_THAT(steady(marked({100, 101, 99, 100, 100, 130})), ElementsAre(true, true, true, true, true, true));
}

} // namespace
} // namespace profiler::analysis
