#include "profiler/analysis/loader/loader_work.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace profiler::analysis {
namespace {

using test_support::traceFromText;

LoaderBalance balanceOf(std::string_view text)
{
    const auto trace = traceFromText(text);
    return loaderBalance(*trace, findSteps(*trace));
}

// Two steady steps, 100–300: worker 0 takes 30 µs per batch, worker 1 takes 90.
constexpr std::string_view kWorkers = R"(
    repeat 3 every 100
      main
        step 0 0 100
        phase "data wait" 0 11
      worker 0
        stage read 5 20 value=0
        stage collate 25 10 value=0
        wait room 35 70
      worker 1
        stage read 5 80 value=0
        stage collate 85 10 value=0
        wait room 95 10
    end
)";

TEST(LoaderBalance, ReportsBusyAndWaitingTimePerWorker)
{
    const LoaderBalance balance = balanceOf(kWorkers);
    ASSERT_EQ(balance.workers.size(), 2U);
    EXPECT_EQ(balance.workers[0].name, "loader worker 0");
    EXPECT_NEAR(balance.workers[0].busyShare, 0.3, 1e-9);
    EXPECT_NEAR(balance.workers[0].waitingShare, 0.7, 1e-9);
    EXPECT_EQ(balance.workers[0].batches, 2);
    EXPECT_NEAR(balance.workers[0].usPerBatch, 30, 1e-9);
    EXPECT_NEAR(balance.workers[1].busyShare, 0.9, 1e-9);
    EXPECT_NEAR(balance.busiestOverMean, 1.5, 1e-9);
    EXPECT_EQ(balance.slowest, 1U);
    EXPECT_NEAR(balance.slowestOverMean, 90 / 60.0, 1e-9);
    EXPECT_EQ(balance.cannotTell, "");
}

TEST(LoaderBalance, ReportsWhyThereIsNoResult)
{
    EXPECT_EQ(balanceOf("main\nop aten::mm 0 10").cannotTell, "the trace has no steady steps");
    EXPECT_EQ(balanceOf("repeat 3 every 100\nmain\nstep 0 0 100\nend").cannotTell,
              "the trace contains no work of loader workers");
}

} // namespace
} // namespace profiler::analysis
