#include "profiler/analysis/facts.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace profiler::analysis {
namespace {

using test_support::TextFeeder;
using test_support::traceFromText;

std::string training(int steps)
{
    return "worker 0\nrepeat " + std::to_string(steps) + R"( every 100
          stage read 5 60
        end
        main
        repeat )" +
           std::to_string(steps) + R"( every 100
          step 0 0 100
          phase "data wait" 0 20
          phase forward 20 30
          op aten::mm 22 20
          phase backward 50 40
        end)";
}

TEST(LastSteps, HaveTheRequestedNumber)
{
    const auto trace = traceFromText(training(200));
    const auto last = lastSteps(*trace, {.steps = 50, .slices = 100'000, .least = 10});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->count, 50);
    EXPECT_EQ(last->newest, 199);
    EXPECT_EQ(last->begin, traceTime(150 * 100'000));
}

TEST(LastSteps, AreFewerIfTheyHaveManySlices)
{
    const auto trace = traceFromText(training(200)); // six slices each
    const auto most = [&](std::size_t slices) {
        const auto last = lastSteps(*trace, {.steps = 50, .slices = slices, .least = 10});
        return last ? last->count : 0;
    };
    EXPECT_EQ(most(6 * 30), 30);
    EXPECT_EQ(most(6 * 30 + 5), 30);
    EXPECT_EQ(most(6 * 31), 31);
    EXPECT_EQ(most(1), 10) << "the minimum";
}

TEST(LastSteps, RequireATraceWithMoreSteps)
{
    const LastStepsLimit limit{.steps = 50, .slices = 100'000, .least = 10};
    EXPECT_FALSE(lastSteps(*traceFromText(training(10)), limit));
    EXPECT_TRUE(lastSteps(*traceFromText(training(11)), limit));
    EXPECT_FALSE(lastSteps(*traceFromText("main\nrepeat 99 every 10\n op aten::mm 0 5\nend"), limit));
}

TEST(LastSteps, OfAGrowingTraceEndWithTheStepInProgress)
{
    TraceBuilder builder;
    TextFeeder feeder{builder};
    for (int i = 0; i < 300; ++i) { // many blocks, which are merged as they arrive
        const std::string begin = std::to_string(i * 100), index = std::to_string(i);
        feeder.feed("main\n phase forward " + begin + " 40\n step " + index + " " + begin + " 100");
        if (i % 7 == 0)
            static_cast<void>(builder.snapshot());
    }
    feeder.feed("main\n step 300 30000 open");
    const auto last = lastSteps(*builder.snapshot(), {.steps = 120, .slices = 100'000, .least = 10});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->count, 120);
    EXPECT_EQ(last->newest, 300);
    EXPECT_EQ(last->begin, traceTime(181 * 100'000));
}

TEST(LastSteps, GiveTheSameStatisticsAsTheWholeTrace)
{
    const auto trace = traceFromText(training(300));
    const auto last = lastSteps(*trace, {.steps = 120, .slices = 100'000, .least = 10});
    ASSERT_TRUE(last);
    const Facts all = analyse(*trace), some = analyse(*TraceBuilder::endOf(*trace, last->begin));
    EXPECT_EQ(some.statistics.count, 120);
    EXPECT_EQ(some.statistics.steadyCount, 119) << "the first step of a trace counts as warm-up";
    EXPECT_EQ(some.steps.front().index, 180);
    EXPECT_DOUBLE_EQ(some.statistics.steadyMeanUs, all.statistics.steadyMeanUs);
    EXPECT_EQ(some.statistics.steadyMeanParts.dataWait, all.statistics.steadyMeanParts.dataWait);
    EXPECT_EQ(some.statistics.steadyMeanParts.backward, all.statistics.steadyMeanParts.backward);
    EXPECT_DOUBLE_EQ(some.input.waitShare, all.input.waitShare);
    EXPECT_EQ(some.input.workers, all.input.workers);
    EXPECT_NEAR(some.input.loadUsPerBatch, all.input.loadUsPerBatch, 1e-9);
    ASSERT_FALSE(some.ops.ops.empty());
    ASSERT_EQ(some.ops.ops.size(), all.ops.ops.size());
    EXPECT_EQ(some.ops.ops.front().name, "aten::mm");
    EXPECT_DOUBLE_EQ(some.ops.ops.front().selfUsPerStep, all.ops.ops.front().selfUsPerStep);
    EXPECT_EQ(trace->name(trace->slice(some.input.longestWaits.front())), phase::kDataWait) << "ids stay";
}

} // namespace
} // namespace profiler::analysis
