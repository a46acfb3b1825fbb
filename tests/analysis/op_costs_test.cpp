#include "profiler/analysis/operators/op_costs.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

OpCosts costsOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    return opCosts(*trace, findSteps(*trace));
}

TEST(OpCosts, SelfTimeExcludesNestedOps)
{
    const OpCosts costs = costsOf(R"(
        main
          repeat 4 every 100
            step 0 0 100
            phase forward 0 50
            op aten::conv2d 0 40
            op aten::convolution 5 30
            op aten::add 36 2
            phase backward 50 50
            op aten::add 60 8
          end
    )");
    EXPECT_EQ(costs.stepsWithOps, 3); // without the warm-up
    const OpCost* conv = costs.find("aten::conv2d", "forward");
    ASSERT_NE(conv, nullptr);
    EXPECT_DOUBLE_EQ(conv->selfUsPerStep, 8);
    EXPECT_DOUBLE_EQ(conv->totalUsPerStep, 40);
    EXPECT_EQ(conv->count, 3);
    EXPECT_DOUBLE_EQ(costs.find("aten::add", "forward")->selfUsPerStep, 2);
    EXPECT_DOUBLE_EQ(costs.find("aten::add", "backward")->selfUsPerStep, 8);
    EXPECT_EQ(costs.find("aten::add", "optimizer"), nullptr);
    EXPECT_EQ(costs.ops.front().name, "aten::convolution");
}

TEST(OpCosts, StepsWithoutOpsDoNotDilute)
{
    const OpCosts costs = costsOf(R"(
        main
          repeat 10 every 100
            step 0 0 100
          end
          op aten::mul 500 10
          op aten::mul 600 20
    )");
    EXPECT_EQ(costs.stepsWithOps, 2);
    EXPECT_DOUBLE_EQ(costs.find("aten::mul", "")->selfUsPerStep, 15);
    EXPECT_DOUBLE_EQ(costs.find("aten::mul", "")->countPerStep, 1);
}

TEST(OpCosts, AnOpInsideAnOpOfTheSameNameCountsOnceInTotal)
{
    const OpCosts costs = costsOf(R"(
        main
          repeat 3 every 100
            step 0 0 100
            op aten::to 0 10
            op aten::to 2 6
          end
    )");
    EXPECT_DOUBLE_EQ(costs.find("aten::to", "")->totalUsPerStep, 10);
    EXPECT_DOUBLE_EQ(costs.find("aten::to", "")->selfUsPerStep, 10);
    EXPECT_DOUBLE_EQ(costs.find("aten::to", "")->countPerStep, 1);
}

TEST(OpCosts, OpsOfAutogradsThreadBelongToThePhaseOfTheStepsThread)
{
    const OpCosts costs = costsOf(R"(
        main
          repeat 3 every 100
            step 0 0 100
            phase backward 40 50
          end
        thread autograd
          repeat 3 every 100
            op aten::mm 50 10
          end
    )");
    ASSERT_NE(costs.find("aten::mm", "backward"), nullptr);
    EXPECT_DOUBLE_EQ(costs.find("aten::mm", "backward")->selfUsPerStep, 10);
}

TEST(OpCosts, ValidationCountsPerPassWhateverItsPhases)
{
    const OpCosts costs = costsOf(R"(
        main
          repeat 5 every 100
            step 0 0 100
            op aten::mm 10 10
          end
          phase validation 500 100
          phase forward 500 50
          op aten::mm 500 5
          op aten::mm 510 5
          phase validation 700 100
          op aten::mm 710 8
    )");
    const OpCost* validation = costs.find("aten::mm", "validation");
    ASSERT_NE(validation, nullptr);
    EXPECT_EQ(validation->count, 3);
    EXPECT_DOUBLE_EQ(validation->countPerStep, 1.5);
    EXPECT_DOUBLE_EQ(validation->selfUsPerStep, 9);
    const OpCost* step = costs.find("aten::mm", "");
    ASSERT_NE(step, nullptr);
    EXPECT_DOUBLE_EQ(step->selfUsPerStep, 10);
}

TEST(OpCosts, LoaderWorkersAreExcluded)
{
    const OpCosts costs = costsOf(R"(
        main
          repeat 3 every 100
            step 0 0 100
          end
        worker 0
          op aten::to 150 10
    )");
    EXPECT_TRUE(costs.ops.empty());
}

} // namespace
} // namespace profiler::analysis
