#include "profiler/analysis/loader/loader_work.h"
#include "profiler/analysis/operators/op_costs.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/phases.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>
#include <string>

namespace {

using namespace profiler;
using namespace profiler::analysis;
using test_support::traceFromText;

/// Ten steps as marked by PyTorch's profiler: the loader's range in one category, the optimizer's in another.
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

TEST(Phases, RecognisePyTorchsNames)
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

// Recorded by our hooks on the loop's track and, together with the operators, by PyTorch's annotation on the thread's
// track.
TEST(Phases, AWaitRecordedByHooksAndAnnotationsCountsOnce)
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

TEST(Phases, KernelsAndCallsAreNotPhases)
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
    EXPECT_EQ(steps[5].parts.forward.count(), 20'000) << "everything before the first node";
    EXPECT_EQ(steps[5].parts.other.count(), 5'000);
    EXPECT_DOUBLE_EQ(inputWait(*trace, steps, {}).waitShare, 0.4);
    EXPECT_DOUBLE_EQ(breakdown(*trace, scanActivity(*trace), steps).share(TimeClass::DataLoader), 0.4);
}

TEST(Phases, OperatorsOfImportedTracesBelongToAPhase)
{
    const auto trace = traceFromText(kImported);
    const OpCosts costs = opCosts(*trace, findSteps(*trace));
    EXPECT_TRUE(costs.find("aten::add_", phase::kOptimizer));
    EXPECT_TRUE(costs.find("aten::zero_", phase::kZeroGrad));
    EXPECT_TRUE(costs.find("aten::stack", phase::kDataWait));
    EXPECT_TRUE(costs.find("aten::convolution_backward", phase::kBackward));
    EXPECT_TRUE(costs.find("aten::conv2d", ""));
}

// A training on a GPU as written by Kineto: forward on the steps' thread, nodes on autograd's thread. Operators without
// gradients (aten::to, aten::ones_like) have the number of the next one with gradients.
constexpr std::string_view kGpuTraining = R"(
    main pid=1
      repeat 4 every 200
        step 0 0 200
        op "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" 0 10
        op aten::to 12 6 seq=10
        op aten::conv2d 20 10 seq=10
        op aten::convolution 21 8 seq=10
        op aten::relu 40 5 seq=11
        op aten::cross_entropy_loss 60 10 seq=12
        op aten::nll_loss 64 5 seq=13
        op aten::ones_like 80 2 seq=14
        annotation "Optimizer.step#SGD.step" 150 20
        op aten::add_ 152 4
        op aten::item 180 15 seq=14
      end
    thread autograd pid=1
      repeat 4 every 200
        op "autograd::engine::evaluate_function: NllLossBackward0" 90 10 seq=13 backward
        op "autograd::engine::evaluate_function: ReluBackward0" 100 10 seq=11 backward
        op "autograd::engine::evaluate_function: ConvolutionBackward0" 110 30 seq=10 backward
        op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad" 140 5
      end
)";

TEST(InferredPhases, ForwardIsThePartThatTheBackwardPassDifferentiates)
{
    const auto trace = traceFromText(kGpuTraining);
    const auto steps = findSteps(*trace);
    ASSERT_EQ(steps.size(), 4U);
    const StepParts& parts = steps[2].parts;
    EXPECT_EQ(parts.forward.count(), 50'000) << "from the convolution at 20 to the end of the loss at 70";
    EXPECT_EQ(parts.copy.count(), 6'000);
    EXPECT_EQ(parts.metrics.count(), 15'000);
    EXPECT_EQ(parts.dataWait.count(), 10'000);
    EXPECT_EQ(parts.backward.count(), 55'000);
    EXPECT_EQ(parts.optimizer.count(), 20'000);
    EXPECT_EQ(parts.other.count(), 200'000 - 156'000);
}

TEST(InferredPhases, EachBackwardPassOfAStepHasItsForwardPass)
{
    const auto trace = traceFromText(R"(
        main
          annotation ProfilerStep#3 0 200
          op train_step 2 190 seq=5
          op aten::mm 10 10 seq=5
          op aten::sum 25 5 seq=6
          op "autograd::engine::evaluate_function: SumBackward0" 40 5 seq=6 backward
          op "autograd::engine::evaluate_function: MmBackward0" 45 15 seq=5 backward
          op aten::mm 70 10 seq=7
          op aten::sum 90 5 seq=8
          op "autograd::engine::evaluate_function: SumBackward0" 100 5 seq=8 backward
          op "autograd::engine::evaluate_function: MmBackward0" 105 15 seq=7 backward
    )");
    const auto steps = findSteps(*trace);
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].parts.forward.count(), 20'000 + 25'000);
    EXPECT_EQ(steps[0].parts.backward.count(), 40'000);
}

TEST(InferredPhases, WithoutNumbersForwardEndsBeforeTheFirstNode)
{
    const auto trace = traceFromText(R"(
        main pid=1
          annotation ProfilerStep#3 0 100
          annotation "Optimizer.zero_grad#SGD.zero_grad" 0 10
          op aten::zero_ 1 5
          op aten::mm 20 10
          op aten::sum 35 5
          op aten::mul 90 5
        thread autograd pid=1
          op "autograd::engine::evaluate_function: MmBackward0" 50 30
    )");
    const auto steps = findSteps(*trace);
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].parts.forward.count(), 20'000);
    EXPECT_EQ(steps[0].parts.backward.count(), 30'000);
    EXPECT_EQ(steps[0].parts.zeroGrad.count(), 10'000);
}

TEST(InferredPhases, AMarkedForwardCountsOnce)
{
    const auto trace = traceFromText(R"(
        main pid=1
          annotation ProfilerStep#3 0 100
          annotation DistributedDataParallel.forward 10 30
          op aten::mm 15 10 seq=5
          op aten::sum 42 5 seq=6
        thread autograd pid=1
          op "autograd::engine::evaluate_function: SumBackward0" 50 5 seq=6 backward
          op "autograd::engine::evaluate_function: MmBackward0" 55 15 seq=5 backward
    )");
    const auto steps = findSteps(*trace);
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].parts.forward.count(), 37'000) << "marked from 10 to 40, inferred from 15 to 47";
}

TEST(InferredPhases, AreEmptyWithoutABackwardPassAndInOurOwnTraces)
{
    const auto inference = traceFromText("main\n annotation ProfilerStep#3 0 100\n op aten::mm 10 80 seq=5\n"
                                         " op aten::item 90 5");
    EXPECT_EQ(findSteps(*inference).at(0).parts.other.count(), 100'000);
    const auto own = traceFromText("main\n step 3 0 100\n phase optimizer 80 10\n op aten::mm 10 10 seq=5\n"
                                   " op \"autograd::engine::evaluate_function: MmBackward0\" 30 10 seq=5 backward");
    EXPECT_EQ(findSteps(*own).at(0).parts.forward.count(), 0);
}

TEST(Phases, ADataPipeCountsAsALoader)
{
    EXPECT_EQ(phaseOfRange("enumerate(DataPipe)#IterableWrapper"), phase::kDataWait);
    EXPECT_EQ(phaseOfRange("enumerate(items)"), "");
}

} // namespace
