#include "profiler/analysis/steps/step_repetition.h"

#include "profiler/analysis/intervals.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace profiler::analysis {
namespace {

using profiler::test::hasId;
using test_support::traceFromText;
using testing::ElementsAre;
using testing::SizeIs;

/// Kernels of one stream, one after the other, each launched some time before it runs.
class Stream {
public:
    explicit Stream(bool launches = true) : m_launches(launches) {}
    Stream& run(const std::string& name, int us = 10)
    {
        const std::string corr = m_launches ? " corr=" + std::to_string(++m_count) : "";
        if (m_launches)
            m_host += " call cudaLaunchKernel " + std::to_string(m_now) + " 2" + corr + "\n";
        m_device += " kernel " + name + " " + std::to_string(m_now + kLag) + " " + std::to_string(us) + corr + "\n";
        m_now += us;
        return *this;
    }
    /// 12 layers forward and backward, and the work around them.
    Stream& trainingStep(int layers = 12, int us = 10)
    {
        run("embed", us);
        for (int i = 0; i < layers; ++i)
            run("gemm", us).run("softmax", us).run("gemm", us).run("norm", us);
        run("loss", us).run("loss_grad", us);
        for (int i = 0; i < layers; ++i)
            run("norm_grad", us).run("gemm", us).run("gemm", us).run("softmax_grad", us).run("gemm", us);
        return run("embed_grad", us).run("update", us).run("update", us);
    }
    [[nodiscard]] int now() const { return m_now; }
    [[nodiscard]] RepeatedSteps steps() const
    {
        return repeatedSteps(*traceFromText("main\n" + m_host + "stream 0 7\n" + m_device));
    }
    static constexpr int kLag = 5;

private:
    bool m_launches;
    int m_now = 100, m_count = 0;
    std::string m_host, m_device;
};

std::vector<double> durations(const RepeatedSteps& found)
{
    std::vector<double> us;
    for (const Step& step : found.steps)
        us.push_back(toUs(step.range.duration()));
    return us;
}

constexpr double kStepUs = (12 * 9 + 6) * 10;

TEST(StepRepetition, LayersWithinAStepAreNotSteps)
{
    Stream stream;
    for (int i = 0; i < 5; ++i)
        stream.trainingStep();
    const RepeatedSteps found = stream.steps();
    ASSERT_THAT(found.steps, SizeIs(5)) << found.whyNot;
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_DOUBLE_EQ(durations(found)[i], kStepUs);
    EXPECT_DOUBLE_EQ(found.confidence, 1);
    EXPECT_TRUE(found.whyNot.empty());
    EXPECT_EQ(found.steps.front().index, 1);
    EXPECT_TRUE(found.steps.front().found);
    EXPECT_FALSE(found.steps.back().partial);
}

TEST(StepRepetition, AStepStartsWithTheCallThatLaunchedIt)
{
    Stream launched, unlaunched(false);
    for (int i = 0; i < 4; ++i) {
        launched.trainingStep();
        unlaunched.trainingStep();
    }
    const auto begin = [](const RepeatedSteps& found) { return toUs(found.steps.at(0).range.begin - TraceTime{}); };
    EXPECT_DOUBLE_EQ(begin(launched.steps()), 100);
    EXPECT_DOUBLE_EQ(begin(unlaunched.steps()), 100 + Stream::kLag);
}

TEST(StepRepetition, StepsMayTakeDifferentTimesAndHaveSomeOtherKernels)
{
    Stream stream;
    const int us[] = {10, 13, 9, 20, 10, 11};
    std::vector<double> expected;
    for (const int each : us) {
        const int begin = stream.now();
        stream.trainingStep(12, each);
        if (each == 9)
            stream.run("log").run("log_copy");
        expected.push_back(stream.now() - begin);
    }
    const RepeatedSteps found = stream.steps();
    ASSERT_THAT(found.steps, SizeIs(6)) << found.whyNot;
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_DOUBLE_EQ(durations(found)[i], expected[i]) << i;
    EXPECT_GT(found.confidence, 0.9);
    EXPECT_LT(found.confidence, 1);
}

TEST(StepRepetition, AFirstStepThatTriesKernelsIsAStepToo)
{
    Stream stream;
    stream.run("embed");
    for (int i = 0; i < 60; ++i)
        stream.run("try_" + std::to_string(i));
    for (int i = 0; i < 5; ++i)
        stream.trainingStep();
    EXPECT_THAT(stream.steps().steps, SizeIs(testing::AnyOf(5, 6)));
}

TEST(StepRepetition, ATraceThatEndsWithinAStepHasAPartialStep)
{
    Stream stream;
    for (int i = 0; i < 4; ++i)
        stream.trainingStep();
    stream.run("embed").run("gemm").run("softmax");
    const RepeatedSteps found = stream.steps();
    ASSERT_THAT(found.steps, SizeIs(5)) << found.whyNot;
    EXPECT_TRUE(found.steps.back().partial);
    EXPECT_FALSE(found.steps[3].partial);
}

TEST(StepRepetition, WorkInEveryFewStepsDoesNotMergeSteps)
{
    Stream stream;
    for (int i = 0; i < 12; ++i) {
        stream.trainingStep();
        if (i % 3 == 2)
            stream.run("log");
    }
    EXPECT_THAT(stream.steps().steps, SizeIs(12));
}

TEST(StepRepetition, MicroBatchesOfGradientAccumulationAreNotSteps)
{
    Stream stream;
    for (int i = 0; i < 4; ++i) {
        for (int part = 0; part < 4; ++part)
            stream.trainingStep();
        stream.run("multi_tensor_apply_kernel").run("multi_tensor_apply_kernel");
    }
    const RepeatedSteps found = stream.steps();
    ASSERT_THAT(found.steps, SizeIs(testing::AnyOf(3, 4))) << found.whyNot;
    EXPECT_DOUBLE_EQ(durations(found)[0], 4 * kStepUs + 20);
}

TEST(StepRepetition, LayersOfOneForwardPassAreNotSteps)
{
    Stream stream;
    stream.run("embed");
    for (int i = 0; i < 24; ++i)
        stream.run("norm").run("gemm").run("softmax").run("gemm").run("add");
    const RepeatedSteps found = stream.run("head").steps();
    EXPECT_TRUE(found.steps.empty());
    EXPECT_THAT(found.whyNot, hasId("steps.maybe_layers", {{"times", 24}}));
}

TEST(StepRepetition, LayersOfOneBackwardPassAreNotSteps)
{
    EXPECT_THAT(Stream().trainingStep(24).steps().steps, SizeIs(0));
}

/// Six forward passes of 12 layers, each after a copy to the device.
RepeatedSteps forwardPassesAfterCopiesOf(int bytes)
{
    std::string text = "main\nrepeat 6 every 1000\ncall cudaMemcpyAsync 0 5 corr=1\n";
    std::string device = "stream 0 7\nrepeat 6 every 1000\ncopy HtoD 1 20 corr=1 bytes=" + std::to_string(bytes) + "\n";
    for (int layer = 0; layer < 12; ++layer) {
        text += "call cudaLaunchKernel " + std::to_string(30 + 20 * layer) +
                " 2 corr=" + std::to_string(2 + 2 * layer) + "\ncall cudaLaunchKernel " +
                std::to_string(40 + 20 * layer) + " 2 corr=" + std::to_string(3 + 2 * layer) + "\n";
        device += "kernel gemm " + std::to_string(35 + 20 * layer) + " 5 corr=" + std::to_string(2 + 2 * layer) +
                  "\nkernel relu " + std::to_string(45 + 20 * layer) + " 5 corr=" + std::to_string(3 + 2 * layer) +
                  "\n";
    }
    device += "kernel head 300 5\n";
    return repeatedSteps(*traceFromText(text + "end\n" + device + "end\n"));
}

TEST(StepRepetition, ForwardPassesWithABatchCopyEachAreSteps)
{
    const RepeatedSteps found = forwardPassesAfterCopiesOf(256);
    EXPECT_THAT(found.steps, SizeIs(6)) << found.whyNot;
    EXPECT_THAT(forwardPassesAfterCopiesOf(0).steps, SizeIs(6)) << "the size is not recorded";
}

TEST(StepRepetition, BlocksThatCopyAScalarEachAreNotSteps)
{
    const RepeatedSteps found = forwardPassesAfterCopiesOf(255);
    EXPECT_THAT(found.steps, SizeIs(0));
    EXPECT_THAT(found.whyNot, hasId("steps.maybe_layers"));
}

TEST(StepRepetition, IsUsedOnlyWithoutMarks)
{
    constexpr std::string_view kWork = R"(
        main
          repeat 5 every 100
            op aten::linear 0 20
            op LinearBackward 60 20
          end
    )";
    const auto unmarked = traceFromText(kWork);
    EXPECT_THAT(findSteps(*unmarked), SizeIs(0));
    const RepeatedSteps inferred = detectSteps(*unmarked);
    EXPECT_THAT(inferred.steps, SizeIs(5)) << inferred.whyNot;
    EXPECT_TRUE(areInferred(inferred.steps));

    const RepeatedSteps marked = detectSteps(*traceFromText(std::string(kWork) + "step 0 0 200\nstep 1 200 200\n"));
    EXPECT_THAT(marked.steps, SizeIs(2));
    EXPECT_FALSE(areInferred(marked.steps));
    EXPECT_DOUBLE_EQ(marked.confidence, 1);
    EXPECT_FALSE(areInferred({}));
}

TEST(StepRepetition, TwoStepsAreTooFew)
{
    Stream stream;
    const RepeatedSteps found = stream.trainingStep().trainingStep().steps();
    EXPECT_TRUE(found.steps.empty());
    EXPECT_THAT(found.whyNot, hasId("steps.rare", {{"work", "kernel"}}));
    EXPECT_THAT(Stream().trainingStep().trainingStep().trainingStep().steps().steps, SizeIs(3));
}

TEST(StepRepetition, IrregularWorkHasNoSteps)
{
    Stream stream;
    std::uint32_t random = 1;
    for (int i = 0; i < 2000; ++i) {
        random = random * 1664525U + 1013904223U;
        stream.run("kernel_" + std::to_string(random >> 29));
    }
    const RepeatedSteps found = stream.steps();
    EXPECT_TRUE(found.steps.empty());
    EXPECT_FALSE(found.whyNot.id.empty());
}

TEST(StepRepetition, ATraceWithoutWorkReportsIt)
{
    const RepeatedSteps found = repeatedSteps(*traceFromText("main\n annotation epoch 0 100"));
    EXPECT_TRUE(found.steps.empty());
    EXPECT_THAT(found.whyNot, hasId("steps.no_work"));
}

TEST(StepRepetition, WithoutADeviceTheOutermostOperatorsAreUsed)
{
    const RepeatedSteps found = repeatedSteps(*traceFromText(R"(
        main
          annotation epoch 0 500
          repeat 5 every 100
            op aten::linear 0 20
            op aten::addmm 2 10
            op aten::relu 20 10
            op aten::linear 30 20
            op aten::addmm 32 10
            op aten::mse_loss 50 10
            op LinearBackward 60 20
            op aten::add_ 80 10
          end
    )"));
    EXPECT_THAT(durations(found), ElementsAre(100, 100, 100, 100, 90));
}

TEST(StepRepetition, ASingleRepeatedKernelGivesNoSteps)
{
    Stream stream;
    for (int i = 0; i < 100; ++i)
        stream.run("gemm");
    const RepeatedSteps found = stream.steps();
    EXPECT_THAT(found.steps, SizeIs(0));
    EXPECT_THAT(found.whyNot, hasId("steps.one_name", {{"work", "kernel"}}));
}

TEST(StepRepetition, TooManyRepetitionsGiveNoSteps)
{
    constexpr std::int64_t kPairs = 200'001;
    TraceBuilder builder;
    Track track;
    track.kind = TrackKind::Stream;
    const TrackId stream = builder.addTrack(std::move(track));
    const StringId names[] = {builder.intern("ping"), builder.intern("pong")};
    std::vector<RawSlice> kernels(2 * kPairs);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        kernels[i].begin = static_cast<std::int64_t>(10 * i);
        kernels[i].duration = 5;
        kernels[i].kind = ActivityKind::Kernel;
        kernels[i].name = names[i % 2].value;
    }
    builder.addMany(stream, std::move(kernels), Depth::Inferred);
    const RepeatedSteps found = repeatedSteps(*builder.finish());
    EXPECT_THAT(found.steps, SizeIs(0));
    EXPECT_THAT(found.whyNot, hasId("steps.too_many"));
}

} // namespace
} // namespace profiler::analysis
