#include "profiler/analysis/steps/breakdown.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

#include <numeric>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

Breakdown breakdownOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    return breakdown(*trace, scanActivity(*trace), findSteps(*trace));
}

double sum(const Breakdown& b)
{
    double total = 0;
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        total += b.share(static_cast<TimeClass>(i));
    return total;
}

TEST(Breakdown, ACpuOnlyTraceConsistsOfWaitingAndComputing)
{
    const Breakdown b = breakdownOf(R"(
        main
          repeat 5 every 100
            step 0 0 100
            phase "data wait" 0 60
            stage decode 5 50
            phase forward 60 20
            op aten::conv2d 62 10
            op aten::item 85 5
          end
    )");
    EXPECT_DOUBLE_EQ(b.share(TimeClass::DataLoader), 0.6);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::CpuOp), 0.25);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Other), 0.15);
    EXPECT_DOUBLE_EQ(sum(b), 1);
}

TEST(Breakdown, EachMomentCountsForTheFirstMatchingCategory)
{
    // Expected values for [0, 100), computed by hand: kernel 20–50, memcpy 50–60 (10 of 20), memset 60–64,
    // communication 64–70 (exposed), runtime 10–20 and 70–75, data_loader 0–10, cpu_op 75–90, other 90–100.
    const Breakdown b = breakdownOf(R"(
        device 0 gpu
        main
          step 0 0 100
          phase "data wait" 0 15
          call cudaLaunchKernel 10 30
          sync cudaStreamSynchronize 60 15
          op aten::mm 20 70
        stream 0 7
          kernel gemm 20 30
          memset Memset 55 9
        stream 0 8
          copy HtoD 40 20
        stream 0 9
          kernel ncclDevKernel_AllReduce 30 40
    )");
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Kernel), 0.30);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Memcpy), 0.10);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Memset), 0.04);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Communication), 0.06);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Runtime), 0.15);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::DataLoader), 0.10);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::CpuOp), 0.15);
    EXPECT_DOUBLE_EQ(b.share(TimeClass::Other), 0.10);
    EXPECT_DOUBLE_EQ(sum(b), 1);
}

TEST(Breakdown, TimeBetweenStepsDoesNotCount)
{
    const Breakdown b = breakdownOf(R"(
        main
          step 0 0 100
          phase "data wait" 90 60
          step 1 200 100
    )");
    EXPECT_EQ(b.total, Nanoseconds{200000});
    EXPECT_DOUBLE_EQ(b.share(TimeClass::DataLoader), 0.05);
}

TEST(Breakdown, AnAnnotationInsideAStepIsHostWork)
{
    const auto trace = traceFromText(R"(
        main
          annotation "epoch 1" 0 200
          annotation ProfilerStep#1 0 100
          annotation Optimizer.step#SGD.step 70 20
          annotation ProfilerStep#2 100 100
          annotation DistributedDataParallel.forward 120 40
          op aten::mm 130 60
          nvtx forward 100 20
        stream 0 7
          gpu_annotation Optimizer.step#SGD.step 0 60
    )");
    EXPECT_DOUBLE_EQ(breakdown(*trace, scanActivity(*trace), findSteps(*trace)).share(TimeClass::CpuOp), 0.45);
    const Breakdown chosen =
        breakdown(*trace, scanActivity(*trace), findSteps(*trace, "DistributedDataParallel.forward"));
    EXPECT_DOUBLE_EQ(chosen.share(TimeClass::CpuOp), 0.75) << "the mark itself does not count";
}

TEST(Breakdown, IsEmptyWithoutSteps)
{
    const Breakdown b = breakdownOf("main\nop aten::mm 0 10");
    EXPECT_EQ(b.total, Nanoseconds{0});
    EXPECT_DOUBLE_EQ(sum(b), 0);
}

} // namespace
} // namespace profiler::analysis
