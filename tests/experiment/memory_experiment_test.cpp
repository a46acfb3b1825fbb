#include "tests/experiment/script.h"
#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>

namespace experiment_test {
namespace {

using namespace advisor;
using profiler::test::hasId;

ExperimentPlan memoryPlan()
{
    ExperimentPlan plan = scriptedPlan();
    plan.objective = Objective::Memory;
    return plan;
}

TEST(MemoryExperiment, AFifthLessPays)
{
    const Script script{{"SCRIPT_PEAK_FACTOR", "0.8"}, {"SCRIPT_SPEEDUP", "0.9"}};
    const auto result = runExperiment(memoryPlan(), {}, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->verdict, Verdict::Pays) << result->why.text;
    EXPECT_EQ(result->peakBytesA, 1'000'000'000);
    EXPECT_EQ(result->peakBytesB, 800'000'000);
    EXPECT_NEAR(result->savedBytes.value, 2e8, 1);
    EXPECT_LE(result->savedBytes.low, result->savedBytes.value);
    EXPECT_NEAR(result->samplesPerSecond.value, 0.9, 1e-9);
    EXPECT_NEAR(result->samplesPerSecond.high, 0.9, 1e-6) << "nothing is noisy here";
    EXPECT_NEAR(result->savedUs.value, 10'000 * (1 - 1 / 0.9), 1);
    EXPECT_EQ(result->why.id, "experiment.memory");
}

TEST(MemoryExperiment, LessWithAWorseLossDoesNotPay)
{
    const Script script{{"SCRIPT_PEAK_FACTOR", "0.8"}, {"SCRIPT_LOSS_FACTOR", "1.5"}};
    const auto result = runExperiment(memoryPlan(), {}, {});
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->verdict, Verdict::DoesNotPay);
    EXPECT_EQ(result->loss.kind, LossKind::Worse);
    EXPECT_EQ(result->why.id, "experiment.loss_worse");
}

TEST(MemoryExperiment, MoreCosts)
{
    const Script script{{"SCRIPT_PEAK_FACTOR", "1.2"}};
    const auto result = runExperiment(memoryPlan(), {}, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->verdict, Verdict::Costs) << result->why.text;
}

TEST(MemoryExperiment, EachRunIsAFreshProcessThatRunsAlone)
{
    const Script script;
    const auto result = runExperiment(memoryPlan(), {}, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->verdict, Verdict::DoesNotPay) << result->why.text;
    EXPECT_EQ(script.log("start").size(), 6U);
    std::string order;
    for (const std::string& turn : script.log("turn"))
        order += turn[5];
    EXPECT_EQ(order, "abbaab");
    auto all = script.log("");
    std::erase_if(all, [](const std::string& line) { return line.starts_with("trains"); });
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_THAT(all[i], testing::StartsWith(i % 2 == 0 ? "start" : "turn")) << "one ended before the next began";
}

TEST(MemoryExperiment, ATrainerWithoutAPeakIsAnError)
{
    const Script script{{"SCRIPT_PEAK_BYTES", "0"}};
    const auto result = runExperiment(memoryPlan(), {}, {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what, hasId("trainer.no_peak_memory"));
}

} // namespace
} // namespace experiment_test
