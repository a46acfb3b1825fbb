#include "profiler/analysis/difference/step_difference.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

std::vector<Step> numbered(std::initializer_list<std::int64_t> numbers)
{
    std::vector<Step> steps;
    std::int64_t begin = 0;
    for (const std::int64_t number : numbers) {
        steps.push_back({.index = number,
                         .range = {traceTime(begin), traceTime(begin + 100)},
                         .slice = {},
                         .parts = {},
                         .mark = {}});
        begin += 100;
    }
    return steps;
}

Slice sliceNamed(const Trace& trace, std::string_view name, std::size_t nth = 0)
{
    for (const Track& track : trace.tracks())
        for (const Slice& slice : trace.sorted(track.id))
            if (trace.name(slice) == name && nth-- == 0)
                return slice;
    ADD_FAILURE() << "there is no such slice: " << name;
    return {};
}

TEST(StepMatch, StepsWithTheSameNumberCorrespond)
{
    const auto a = numbered({5, 6, 7}), b = numbered({7, 8, 9});
    const StepMatch match = matchSteps(a, b);
    EXPECT_EQ(match.by, StepMatch::By::Number);
    EXPECT_EQ(matchedStep(match, a, 2, b), 0U);
    EXPECT_EQ(matchedStep(match, a, 1, b), std::nullopt);
    EXPECT_EQ(matchedStep(reversed(match), b, 0, a), 2U);
}

TEST(StepMatch, WithoutCommonNumbersTheOrderDecides)
{
    const auto a = numbered({0, 1, 2}), b = numbered({100, 101});
    const StepMatch match = matchSteps(a, b);
    EXPECT_EQ(match.by, StepMatch::By::Position);
    EXPECT_EQ(matchedStep(match, a, 1, b), 1U);
    EXPECT_EQ(matchedStep(match, a, 2, b), std::nullopt);
    EXPECT_EQ(matchedStep(match, a, 3, b), std::nullopt);
}

TEST(StepMatch, AnOffsetShiftsPositions)
{
    const auto a = numbered({0, 1, 2}), b = numbered({0, 1, 2});
    const StepMatch match{StepMatch::By::Position, 1};
    EXPECT_EQ(matchedStep(match, a, 0, b), 1U);
    EXPECT_EQ(matchedStep(match, a, 2, b), std::nullopt);
    EXPECT_EQ(matchedStep(reversed(match), b, 1, a), 0U);
    EXPECT_EQ(matchedStep(reversed(match), b, 0, a), std::nullopt);
}

/// The launch of the second step's kernels starts in the second step, but the kernels run a step later.
constexpr std::string_view kAhead = R"(
    main
      repeat 4 every 1000
        step 0 0 1000
        op aten::mm 100 200
        call cudaLaunchKernel 110 10 corr=1
        op aten::mm 400 200
        call cudaLaunchKernel 410 10 corr=2
      end
    stream 0 7
      repeat 4 every 1000
        kernel gemm 1100 300 corr=1
        kernel gemm 1500 200 corr=2
      end
)";

TEST(StepMatch, DeviceWorkBelongsToTheStepThatLaunchedIt)
{
    const auto trace = traceFromText(kAhead);
    const auto steps = findSteps(*trace);
    const Slice first = sliceNamed(*trace, "gemm", 0); // runs in the second step
    EXPECT_EQ(stepContaining(steps, first.begin), 1U);
    EXPECT_EQ(stepOfSlice(*trace, steps, first), 0U);
    std::vector<std::int64_t> begins;
    forEachDeviceWorkOf(
        *trace, steps[1], [](const Track&) { return true; }, {},
        [&](const Slice& work) { begins.push_back(toNs(work.begin)); });
    EXPECT_EQ(begins, (std::vector<std::int64_t>{2'100'000, 2'500'000}));
}

TEST(StepMatch, WithoutLaunchesDeviceWorkBelongsToTheStepInWhichItStarts)
{
    const auto trace = traceFromText("main\nstep 0 0 100\nstep 1 100 100\nstream 0 7\nkernel k 120 50\n");
    EXPECT_EQ(stepOfSlice(*trace, findSteps(*trace), sliceNamed(*trace, "k")), 1U);
}

TEST(StepMatch, TheCounterpartIsTheSameOccurrenceInTheMatchedStep)
{
    const auto a = traceFromText(kAhead);
    // The same kernels without a queue, and one more in front of them on another stream of the device.
    const auto b = traceFromText(R"(
        main
          step 2 0 1000
          op aten::mm 50 300
          op aten::mm 500 300
          step 3 1000 1000
        stream 0 7
          kernel gemm 300 100
          kernel relu 310 5
        stream 0 9
          kernel gemm 600 100
        stream 1 7
          kernel gemm 10 100
    )");
    const auto stepsA = findSteps(*a), stepsB = findSteps(*b);
    const auto counterpartOf = [&](const Slice& slice) { return counterpart(*a, stepsA[2], slice, *b, stepsB[0]); };
    const auto second = counterpartOf(sliceNamed(*a, "gemm", 5));
    ASSERT_TRUE(second);
    EXPECT_EQ(toNs(second->begin), 600'000);
    EXPECT_EQ(toNs(counterpartOf(sliceNamed(*a, "gemm", 4))->begin), 300'000); // not the one of device 1
    EXPECT_EQ(toNs(counterpartOf(sliceNamed(*a, "aten::mm", 5))->begin), 500'000);
    EXPECT_EQ(counterpartOf(sliceNamed(*a, "cudaLaunchKernel", 4)), std::nullopt); // not recorded there
    EXPECT_EQ(counterpartOf(sliceNamed(*a, "gemm", 0)), std::nullopt);             // of another step
    EXPECT_EQ(counterpartOf(a->slice(stepsA[2].slice))->id, stepsB[0].slice);
    // Its kernels exist only once.
    EXPECT_EQ(counterpart(*b, stepsB[0], sliceNamed(*b, "relu"), *a, stepsA[2]), std::nullopt);
}

TEST(StepMatch, MarksOfPyTorchStepsCorrespondAlthoughTheirNamesDiffer)
{
    const auto trace = traceFromText("main\nannotation ProfilerStep#3 0 100\nannotation ProfilerStep#4 100 100\n");
    const auto steps = findSteps(*trace);
    ASSERT_EQ(steps.size(), 2U);
    const auto other = counterpart(*trace, steps[0], trace->slice(steps[0].slice), *trace, steps[1]);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->id, steps[1].slice);
}

} // namespace
} // namespace profiler::analysis
