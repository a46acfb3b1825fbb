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

} // namespace
} // namespace advisor
