#include "advisor/experiment/difference.h"

#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor {
namespace {

using test_support::traceFromText;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// By the steps that they mark.
Difference difference(const profiler::Trace& a, const profiler::Trace& b)
{
    return advisor::difference(a, b, profiler::analysis::findSteps(a), profiler::analysis::findSteps(b));
}

std::shared_ptr<const profiler::Trace> run(const std::string& head, int forward, int conv)
{
    return traceFromText(head + R"(
        main
          repeat 10 every 1000
            step 0 0 )" + std::to_string(400 + forward) +
                         "\nphase forward 0 " + std::to_string(forward) + "\nop aten::conv2d 0 " +
                         std::to_string(conv) + "\nphase optimizer " + std::to_string(forward) + " 100\nend\n");
}

TEST(Compare, SaysFirstWhatMakesRunsIncomparable)
{
    const auto a = run("meta batch.size 32\nmeta workload convnet\nmeta host.cpu one\nmeta ranks 1\n", 400, 300);
    const auto b = run("meta batch.size 64\nmeta workload resnet18\nmeta host.cpu two\nmeta ranks 2\n", 400, 300);
    const Difference found = difference(*a, *b);
    EXPECT_THAT(found.whyNot, ElementsAre(HasSubstr("ranks"), HasSubstr("models"), HasSubstr("batch sizes: 32 and 64"),
                                          HasSubstr("processors")));
    EXPECT_EQ(found.verdict, Difference::Verdict::NotComparable);
    EXPECT_THAT(difference(*a, *a).whyNot, IsEmpty());
}

TEST(Compare, ShapesTellTheBatchWhereNoConfigurationDoes)
{
    const auto of = [](int samples, const std::string& head = "") {
        return traceFromText(head + "main\nrepeat 10 every 1000\nstep 0 0 900\nop aten::conv2d 0 100 shapes=\"[[" +
                             std::to_string(samples) + ", 3, 8, 8], [64, 3, 7, 7], []]\"\nend\n");
    };
    EXPECT_THAT(difference(*of(32), *of(64)).whyNot, testing::Contains(HasSubstr("aten::conv2d: 32 and 64")));
    EXPECT_THAT(difference(*of(32), *of(32)).whyNot, IsEmpty());
    EXPECT_THAT(difference(*of(32, "meta batch.size 64\n"), *of(64, "meta batch.size 64\n")).whyNot,
                testing::Each(testing::Not(HasSubstr("conv2d: 32 and 64"))))
        << "parts of a batch may be smaller";
}

TEST(Compare, ALinearLayerTellsTheBatchOnlyWhereNothingElseComesFirst)
{
    const auto of = [](const std::vector<std::string>& inputs) {
        std::string text = "main\n";
        for (std::size_t i = 0; i < 4; ++i)
            text += "step " + std::to_string(i) + " " + std::to_string(1000 * i) + " 900\nop aten::linear " +
                    std::to_string(1000 * i) + " 100 shapes=\"[[" + inputs[i % inputs.size()] +
                    "], [64, 64], [64]]\"\n" + "op aten::relu " + std::to_string(1000 * i + 200) + " 100\n";
        return traceFromText(text);
    };
    const auto batch = HasSubstr("different batch sizes");
    EXPECT_THAT(difference(*of({"32, 128, 64", "32, 64"}), *of({"8, 128, 64", "8, 64"})).whyNot,
                testing::Contains(batch));
    const Difference packed = difference(*of({"812, 64", "790, 64"}), *of({"803, 64", "777, 64"}));
    EXPECT_THAT(packed.whyNot, testing::Not(testing::Contains(batch)));
    EXPECT_THAT(packed.notes, ElementsAre(HasSubstr("may be of different sizes")));
    const Difference longer = difference(*of({"128, 32, 64"}), *of({"96, 16, 64"}));
    EXPECT_THAT(longer.whyNot, testing::Not(testing::Contains(batch)));
    EXPECT_THAT(longer.notes, testing::SizeIs(1));
    EXPECT_THAT(difference(*of({"32, 64"}), *of({"32, 64"})).notes, IsEmpty());
}

// Something else ran during a quarter of the first run.
TEST(Compare, StepsThatResembleTheirNeighboursAreNotAsManyAsTheyLook)
{
    const auto run = [](int slowSteps, int usual) {
        std::string text = "main\n";
        for (int i = 0, at = 0; i < 200; ++i) {
            const int us = usual + (i < slowSteps + 20 && i >= 20 ? 60 : 0) + i % 3;
            text += "step " + std::to_string(i) + " " + std::to_string(at) + " " + std::to_string(us) + "\n";
            at += us;
        }
        return traceFromText(text + "op aten::mm 0 5\n");
    };
    EXPECT_EQ(difference(*run(50, 1000), *run(0, 1000)).verdict, Difference::Verdict::NotShown);
    EXPECT_EQ(difference(*run(0, 1000), *run(0, 900)).verdict, Difference::Verdict::Faster);
}

TEST(Compare, TellsWhatMovedByPhaseAndOperator)
{
    const auto a = run("", 500, 400), b = run("", 300, 200);
    const Difference found = difference(*a, *b);
    ASSERT_FALSE(found.phases.empty());
    EXPECT_EQ(found.phases.front().name, "forward");
    EXPECT_DOUBLE_EQ(found.phases.front().aUs - found.phases.front().bUs, 200);
    ASSERT_FALSE(found.ops.empty());
    EXPECT_EQ(found.ops.front().name, "aten::conv2d");
    EXPECT_DOUBLE_EQ(found.ops.front().aUs, 400);
    EXPECT_EQ(found.spreadA.count, 10);
    EXPECT_DOUBLE_EQ(found.spreadA.p50, 900);
    EXPECT_THAT(found.stepsUsB, testing::Each(700));
    EXPECT_EQ(found.verdict, Difference::Verdict::Faster);
}

TEST(Compare, TellsWhichKindOfKernelMoved)
{
    const auto gpu = [](int gemm) {
        return traceFromText("device 0 gpu\nmain\nrepeat 4 every 1000\nstep 0 0 1000\nend\nstream 0 7\nrepeat 4 every "
                             "1000\nkernel sgemm_a 0 " +
                             std::to_string(gemm) + "\nkernel elementwise_kernel_b 500 50\nend\n");
    };
    const Difference found = difference(*gpu(400), *gpu(100));
    ASSERT_FALSE(found.classes.empty());
    EXPECT_EQ(found.classes.front().name, "gemm");
    EXPECT_DOUBLE_EQ(found.classes.front().aUs, 400);
    EXPECT_DOUBLE_EQ(found.classes.front().bUs, 100);
}

/// Ten equal steps of `us`, the first of them of `firstUs`.
std::shared_ptr<const profiler::Trace> warmed(int firstUs, int us, const std::string& more = "")
{
    std::string text = "main\n";
    for (int i = 0, at = 0; i < 10; ++i) {
        const int duration = (i == 0 ? firstUs : us) + i % 2;
        text += "step " + std::to_string(i) + " " + std::to_string(at) + " " + std::to_string(duration) +
                "\nop aten::mm " + std::to_string(at) + " " + std::to_string(us / 2) + "\n";
        at += duration;
    }
    return traceFromText(text + more);
}

TEST(Compare, WarmingUpDecidesNothing)
{
    const Difference found = difference(*warmed(50000, 1000), *warmed(1000, 1000));
    EXPECT_EQ(found.verdict, Difference::Verdict::NotShown);
    ASSERT_TRUE(found.ci95 && found.meanStepUs && found.judged && found.judged->ci95);
    EXPECT_TRUE(found.judged->steady);
    EXPECT_GT(found.ci95->second, 5);
    EXPECT_GT(found.meanStepUs->ratio(), 5) << "all marks, as they are";
    EXPECT_NEAR(found.judged->stepUs.ratio(), 1, 0.001);
    EXPECT_LT(found.judged->ci95->second, 1.01);
    const Difference faster = difference(*warmed(1000, 1000), *warmed(50000, 900));
    EXPECT_EQ(faster.verdict, Difference::Verdict::Faster);
}

TEST(Compare, LessThanAnExperimentAsksForIsNoDifference)
{
    EXPECT_EQ(difference(*warmed(1000, 1005), *warmed(1000, 1000)).verdict, Difference::Verdict::NotShown);
    EXPECT_EQ(difference(*warmed(1000, 1020), *warmed(1000, 1000)).verdict, Difference::Verdict::Faster);
    EXPECT_EQ(difference(*warmed(1000, 1000), *warmed(1000, 1020)).verdict, Difference::Verdict::Slower);
}

TEST(Compare, AFewEqualStepsAreNoInterval)
{
    const auto equal = [](int us) {
        return traceFromText("main\nrepeat 3 every 1000\nstep 0 0 " + std::to_string(us) + "\nop aten::mm 0 100\nend");
    };
    const Difference found = difference(*equal(900), *equal(500));
    EXPECT_FALSE(found.ci95);
    EXPECT_FALSE(found.judged->ci95);
    EXPECT_EQ(found.verdict, Difference::Verdict::NotShown);
}

TEST(Compare, OperatorsTellOtherWorkWhereThereAreNoKernels)
{
    const auto ops = [](const std::string& op, const std::string& head = "") {
        return traceFromText(head + "main\nrepeat 10 every 1000\nstep 0 0 1000\nop " + op + "\nend");
    };
    const auto why = [](const auto& a, const auto& b) { return difference(*a, *b).whyNot; };
    EXPECT_THAT(why(ops("aten::mm 0 900"), ops("aten::conv2d 0 900")), ElementsAre(HasSubstr("operator in common")));
    EXPECT_THAT(why(ops("aten::mm 0 900"), ops("aten::mm 0 500")), IsEmpty());
    const auto small = ops("aten::mm 0 900 shapes=\"[[8, 8], [8, 8]]\""),
               large = ops("aten::mm 0 900 shapes=\"[[64, 64], [64, 64]]\"");
    EXPECT_THAT(why(small, large), ElementsAre(HasSubstr("operator in common")));
    EXPECT_THAT(why(small, small), IsEmpty());
    EXPECT_THAT(why(small, ops("aten::mm 0 900")), IsEmpty()) << "shapes that one does not record are no difference";
}

TEST(Compare, WhereNothingTellsTheWorkItSaysSo)
{
    const auto bare = [](const std::string& head) {
        return traceFromText(head + "main\nrepeat 10 every 1000\nstep 0 0 1000\nend");
    };
    EXPECT_THAT(difference(*bare(""), *bare("")).whyNot, ElementsAre(HasSubstr("Nothing in them tells")));
    EXPECT_THAT(difference(*bare("meta workload convnet\n"), *bare("meta workload convnet\n")).whyNot, IsEmpty());
}

TEST(Compare, KernelsBesideTheStepsAreNoneOfTheirs)
{
    const auto gpu = [](const std::string& behind) {
        return traceFromText("device 0 gpu\nmain\nrepeat 4 every 1000\nstep 0 0 1000\nend\nstream 0 7\n"
                             "repeat 4 every 1000\nkernel sgemm_a 0 400\nend\n" +
                             behind);
    };
    const Difference found = difference(*gpu("kernel sgemm_a 9000 4000\n"), *gpu(""));
    ASSERT_FALSE(found.kernels.empty());
    EXPECT_DOUBLE_EQ(found.kernels.front().aUs, 400);
    EXPECT_EQ(found.kernels.front().countA, 4);
    EXPECT_DOUBLE_EQ(found.classes.front().aUs, 400);
    ASSERT_TRUE(found.kernelStepUs);
    EXPECT_DOUBLE_EQ(found.kernelStepUs->ratio(), 1);
    EXPECT_DOUBLE_EQ(found.kernelUs.a, 5600) << "of the whole trace, as summarize has it";
}

} // namespace
} // namespace advisor
