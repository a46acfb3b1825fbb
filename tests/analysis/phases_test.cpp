#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/input_wait.h"
#include "profiler/analysis/op_costs.h"
#include "profiler/analysis/phases.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>
#include <string>

namespace {

using namespace profiler;
using namespace profiler::analysis;
using test_support::traceFromText;

/// Ten steps as PyTorch's profiler marks them: the loader's range under one category, the optimizer's under another.
constexpr std::string_view kImported = R"(
    main
      repeat 10 every 100
        step 0 0 100
        op "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" 0 40
        op aten::stack 10 20
        op aten::conv2d 40 20
        annotation "Optimizer.step#SGD.step" 80 10
        op aten::add_ 81 4
        annotation "Optimizer.zero_grad#SGD.zero_grad" 90 5
        op aten::zero_ 91 2
      end
    thread autograd
      repeat 10 every 100
        op "autograd::engine::evaluate_function: ConvolutionBackward0" 60 20
        op aten::convolution_backward 61 18
      end
)";

TEST(Phases, KnowWhatPyTorchCallsThem)
{
    const auto trace = traceFromText(kImported);
    const Phases phases(*trace);
    int waits = 0, optimizer = 0, none = 0;
    for (const Track& track : trace->tracks())
        for (const Slice& slice : trace->sorted(track.id)) {
            waits += phases.isDataWait(slice) ? 1 : 0;
            optimizer += phases.of(slice) == phase::kOptimizer ? 1 : 0;
            none += phases.of(slice).empty() ? 1 : 0;
        }
    EXPECT_EQ(waits, 10);
    EXPECT_EQ(optimizer, 10);
    EXPECT_EQ(none, 60); // steps and plain operators
}

// Recorded by our hooks on the loop's track and, with the operators, by PyTorch's annotation on the thread's.
TEST(Phases, AWaitIsCountedOnceWhereHooksAndAnnotationsTellIt)
{
    const std::string_view twice = R"(
    main
      phase "data wait" 0 40
    thread python
      annotation "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" 1 38
    )";
    const auto waits = [](const Trace& trace) {
        const Phases phases(trace);
        int count = 0;
        for (const ActivityKind kind : {ActivityKind::Phase, ActivityKind::UserAnnotation})
            for (const Slice& slice : trace.ofKind(kind))
                count += phases.isDataWait(slice) ? 1 : 0;
        return count;
    };
    EXPECT_EQ(waits(*traceFromText(twice)), 2);
    EXPECT_EQ(waits(*traceFromText("meta ops.source callback\n" + std::string(twice))), 1);
}

TEST(Phases, KernelsAndCallsAreNone)
{
    const auto trace = traceFromText("main\n call \"Optimizer.step\" 0 1\nstream 0 7\n kernel \"Optimizer.step\" 0 1");
    const Phases phases(*trace);
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::Kernel})
        EXPECT_EQ(phases.of(trace->ofKind(kind).at(0)), "");
}

TEST(Phases, PartsOfImportedSteps)
{
    const auto trace = traceFromText(kImported);
    const auto steps = findSteps(*trace);
    ASSERT_EQ(steps.size(), 10U);
    EXPECT_EQ(steps[5].parts.dataWait.count(), 40'000);
    EXPECT_EQ(steps[5].parts.optimizer.count(), 10'000);
    EXPECT_EQ(steps[5].parts.zeroGrad.count(), 5'000);
    EXPECT_EQ(steps[5].parts.backward.count(), 20'000);
    EXPECT_EQ(steps[5].parts.other.count(), 25'000);
    EXPECT_DOUBLE_EQ(inputWait(*trace, steps, {}).waitShare, 0.4);
    EXPECT_DOUBLE_EQ(breakdown(*trace, scanActivity(*trace), steps).share(TimeClass::DataLoader), 0.4);
}

TEST(Phases, OperatorsOfImportedTracesBelongToOne)
{
    const auto trace = traceFromText(kImported);
    const OpCosts costs = opCosts(*trace, findSteps(*trace));
    EXPECT_TRUE(costs.find("aten::add_", phase::kOptimizer));
    EXPECT_TRUE(costs.find("aten::zero_", phase::kZeroGrad));
    EXPECT_TRUE(costs.find("aten::stack", phase::kDataWait));
    EXPECT_TRUE(costs.find("aten::convolution_backward", phase::kBackward));
    EXPECT_TRUE(costs.find("aten::conv2d", ""));
}

TEST(Phases, ADataPipeIsALoader)
{
    EXPECT_EQ(phaseOfRange("enumerate(DataPipe)#IterableWrapper"), phase::kDataWait);
    EXPECT_EQ(phaseOfRange("enumerate(items)"), "");
}

} // namespace
